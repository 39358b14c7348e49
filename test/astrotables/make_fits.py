"""Writes FITS tables into a directory, and beside each a JSON file of what astropy reads from it.

`make_tables.py DIRECTORY`; it needs astropy, and stilts on the path.

types.fits has a column for each type. Its values are written unscaled; TSCAL, TZERO and TNULL go into the header
afterwards, so that astropy only reads them. astropy applies no TNULL to numbers: the nulls are found in the unscaled
values. It does not end a text at a NUL: that is done here. masked.fits is a masked table of astropy, stilts.fits and stilts_var.fits are STILTS's copies of a VOTable.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from astropy.io import fits
from astropy.table import MaskedColumn, Table

out = Path(sys.argv[1])
whole = {
    "B": np.array([0, 255, 7], dtype=np.uint8),
    "I": np.array([-32768, 32767, 7], dtype=np.int16),
    "J": np.array([-(2**31), 2**31 - 1, 7], dtype=np.int32),
    "K": np.array([-(2**63), 2**63 - 1, 7], dtype=np.int64),
}
floating = {"E": np.array([0.1, -3e38, np.nan], dtype=np.float32), "D": np.array([0.1, -1e308, np.nan])}
columns = []
cards = {}


def add(name, form, array, **keywords):
    columns.append(fits.Column(name=name, format=form, array=array, **{k: v for k, v in keywords.items() if k == "dim"}))
    for keyword, value in keywords.items():
        if keyword != "dim":
            cards[f"{keyword}{len(columns)}"] = value


for letter, values in {**whole, **floating}.items():
    small = np.array([1, 2, 7]).astype(values.dtype)
    add(f"{letter}_plain", letter, values)
    add(f"{letter}_scaled", letter, small, TSCAL="0.5")
    add(f"{letter}_exponent", letter, small, TSCAL="1.0D-3")
    add(f"{letter}_both", letter, small, TSCAL="0.25", TZERO="1.5D1")
    add(f"{letter}_zero", letter, small, TZERO="0.5")
    add(f"{letter}_vector", f"2{letter}", np.stack([small, small + 1], axis=1), TSCAL="1.0D-1")
    add(f"{letter}_heap", f"P{letter}()", np.array([small, small[:1], small[:0]], dtype=object))
for letter, values in whole.items():
    add(f"{letter}_null", letter, np.array([1, 2, 7]).astype(values.dtype), TNULL="7")
    add(f"{letter}_null_scaled", letter, np.array([1, 2, 7]).astype(values.dtype), TNULL="7", TSCAL="0.5")
add("I_unsigned", "I", whole["I"], TZERO="32768")
add("J_unsigned", "J", whole["J"], TZERO="2147483648")
add("K_unsigned", "K", whole["K"], TZERO="9223372036854775808")
add("K_unsigned_real", "K", whole["K"], TZERO="9.223372036854775808E18")
add("B_signed", "B", whole["B"], TZERO="-128")
add("L", "L", np.array([True, False, True]))
add("L_vector", "2L", np.array([[True, False], [False, False], [True, True]]))
add("bit", "1X", np.array([[True], [False], [True]]))
add("bits", "11X", np.arange(33).reshape(3, 11) % 3 == 0)
add("C", "C", np.array([0.1 + 2j, -1j, 3], dtype=np.complex64))
add("M", "M", np.array([0.1 + 2j, -1j, 3]))
add("M_vector", "2M", np.array([[0.1 + 2j, 1], [-1j, 2], [3, 4j]]))
add("M_heap", "QM()", np.array([[0.1 + 2j], [1, 2j], []], dtype=object))
add("A", "6A", np.array(["abc", " de f", ""]))
add("A_vector", "6A", np.array([["abc", "de"], ["f", "g"], ["hij", "klm"]]), dim="(3,2)")
add("A_heap", "PA()", np.array(["abc", "defghi", "j"], dtype=object))
add("last", "D", np.array([1.0, 2.0, 3.0]))

path = out / "types.fits"
table = fits.BinTableHDU.from_columns(columns)
table.header["COMMENT"] = "first"
table.header["COMMENT"] = "second"
table.header["LONGTEXT"] = "it's " + "long " * 40 + "&."
table.header["BIGINT"] = 2**63 - 25
table.header["HIERARCH some long keyword"] = 1
table.writeto(path, overwrite=True)

hdu = fits.open(path)[1]
raw = path.read_bytes()
start, end = hdu.fileinfo()["hdrLoc"], hdu.fileinfo()["datLoc"]
old = raw[start:end].decode("ascii").rstrip()
assert old.endswith("END")
added = "".join(f"{keyword:8}= {value:>20}".ljust(80) for keyword, value in cards.items())
text = old[:-3] + added + "END"
text = text.ljust(-(-len(text) // 2880) * 2880)
# A text that ends at a NUL, with other bytes after it.
raw = raw[:start] + text.encode("ascii") + raw[end:].replace(b" de f\0", b" de\0fg")
path.write_bytes(raw)


def plain(value):
    """A value as text: integers with every digit, numbers as the shortest text, NaN and null as null."""
    if value is np.ma.masked or value is None:
        return None
    if isinstance(value, (np.ndarray, list)):
        return [plain(each) for each in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (complex, np.complexfloating)):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, (float, np.floating)):
        return None if np.isnan(value) else float(value)
    return str(value).split("\0")[0]


def cells_of(path):
    """The cells of each column. astropy reads 64-bit integers with a TZERO other than 2^63 only as doubles."""
    cells = {}
    with (
        fits.open(path) as hdus,
        fits.open(path, uint=False) as doubles,
        fits.open(path, do_not_scale_image_data=True) as unscaled,
    ):
        header = hdus[1].header
        for number, name in enumerate(hdus[1].columns.names, 1):
            is_unsigned = header.get(f"TZERO{number}", 2**63) == 2**63
            values = (hdus if is_unsigned else doubles)[1].data[name]
            null = header.get(f"TNULL{number}")
            # astropy reads a logical that is neither true nor false as false; its byte is 0.
            null = 0 if header[f"TFORM{number}"] == "L" else null
            raws = unscaled[1].data.base[name] if null is not None else None
            cells[name] = [
                None if null is not None and int(raws[row]) == null else plain(values[row]) for row in range(len(values))
            ]
            if header[f"TFORM{number}"].startswith("PA"):
                cells[name] = ["".join(text) for text in cells[name]]
    return cells


def write_answer(path):
    with fits.open(path) as hdus:
        header = hdus[1].header
    answer = {"cells": cells_of(path)}
    if path.name == "types.fits":
        answer["comments"] = [str(each) for each in header["COMMENT"]]
        answer["LONGTEXT"] = header["LONGTEXT"]
        answer["BIGINT"] = str(header["BIGINT"])
    path.with_suffix(".json").write_text(json.dumps(answer, indent=1) + "\n")


mask = [False, True, False]
masked = Table({name: MaskedColumn(values, mask=mask) for name, values in {**whole, **floating}.items()})
masked["L"] = MaskedColumn([True, False, True], mask=mask)
masked["A"] = MaskedColumn(["abc", "de", "f"], mask=mask)
masked["u2"] = np.array([0, 1, 65535], dtype=np.uint16)
masked["u8"] = np.array([0, 1, 2**64 - 1], dtype=np.uint64)
masked.meta["comments"] = ["of a night"]
masked.write(out / "masked.fits", overwrite=True)
source = out / "source.vot"
source.write_text(
    """<VOTABLE version="1.4"><RESOURCE><TABLE>
<FIELD name="short" datatype="short"><VALUES null="-1"/></FIELD><FIELD name="int" datatype="int"/>
<FIELD name="long" datatype="long" ucd="meta.id"/><FIELD name="byte" datatype="unsignedByte"/>
<FIELD name="float" datatype="float" unit="mag"/><FIELD name="double" datatype="double"/><FIELD name="flag" datatype="boolean"/>
<FIELD name="text" datatype="char" arraysize="*"/><FIELD name="fixed" datatype="int" arraysize="2"/>
<FIELD name="variable" datatype="double" arraysize="*"/><FIELD name="names" datatype="char" arraysize="4x2"/>
<DATA><TABLEDATA>
<TR><TD>-1</TD><TD>2147483647</TD><TD>9223372036854775807</TD><TD>255</TD><TD>0.1</TD><TD>0.1</TD><TD>T</TD><TD>abc</TD><TD>1 2</TD><TD>0.5 1.5</TD><TD>ab  cd  </TD></TR>
<TR><TD>7</TD><TD/><TD/><TD/><TD/><TD/><TD/><TD/><TD>3 4</TD><TD/><TD>efghijkl</TD></TR>
<TR><TD>-32768</TD><TD>5</TD><TD>-9007199254740993</TD><TD>0</TD><TD>3e38</TD><TD>-1e308</TD><TD>F</TD><TD>a longer text</TD><TD>5 6</TD><TD>2</TD><TD>a   b   </TD></TR>
</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>
"""
)
for name, form in (("stilts", "fits-basic"), ("stilts_var", "fits-var")):
    subprocess.run(["stilts", "tcopy", f"in={source}", f"out={out / name}.fits", f"ofmt={form}"], check=True)
source.unlink()
for each in sorted(out.glob("*.fits")):
    write_answer(each)
