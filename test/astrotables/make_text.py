"""Writes tables of text with the rows of text.test.ts into a directory, as astropy and numpy write them."""
import sys
import numpy
from astropy.table import MaskedColumn, Table

directory = sys.argv[1]
table = Table(
    [
        MaskedColumn([10.5, 350.25, 0.0], name="ra", unit="deg"),
        MaskedColumn([-30.25, 89.5, -90.0], name="dec", unit="deg"),
        MaskedColumn([2**63 - 1, -(2**53) - 1, 0], name="id"),
        MaskedColumn([0.5, -2.5, 3e300], name="mag", mask=[False, True, False]),
        MaskedColumn(["a b", 'it\'s "q"', "x"], name="name", mask=[False, False, True]),
    ]
)
for name, form in (("ipac", "ascii.ipac"), ("commented", "ascii.commented_header"), ("basic", "ascii.basic")):
    table.write(f"{directory}/{name}.txt", format=form)
table.write(f"{directory}/table.rdb", format="ascii.rdb")
plain = table.copy()
plain["mag"].mask = False
plain["name"] = ["a b", "it's", "x"]
for form in ("fixed_width", "fixed_width_two_line", "rst"):
    plain.write(f"{directory}/{form}.drawn", format=f"ascii.{form}")
plain.write(f"{directory}/bars.drawn", format="ascii.fixed_width_two_line", delimiter="|")
plain.write(f"{directory}/tabs.drawn", format="ascii.fixed_width_two_line", delimiter="\t", position_char="=")
with open(f"{directory}/pprint.drawn", "w") as out:
    out.write("\n".join(plain.pformat(max_lines=-1, max_width=-1)))
for form in ("latex", "aastex", "html", "mrt"):
    plain.write(f"{directory}/{form}.foreign", format=f"ascii.{form}")
numbers = numpy.column_stack([table["ra"], table["dec"]])
numpy.savetxt(f"{directory}/numpy_blanks.dat", numbers, header="ra dec")
numpy.savetxt(f"{directory}/numpy_commas.dat", numbers, header="ra,dec", delimiter=",")
