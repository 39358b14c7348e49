"""The data service of a TOM, by the interface of tom_dataservices, and the content of the tab of a target."""

from __future__ import annotations

import logging
from typing import Any

from django import forms
from tom_dataservices.dataservices import DataService, NotConfiguredError, QueryServiceError
from tom_dataservices.forms import BaseQueryForm
from tom_targets.models import Target

from nearsky import Nearsky, NearskyError, __version__

logger = logging.getLogger(__name__)

# A page of a TOM waits for its tabs.
TIMEOUT_SECONDS = 10.0
RADIUS_ARCSEC = 5.0
# The objects of one transient lie within this radius: the median error of Rubin's positions is far smaller.
SAME_PLACE_ARCSEC = 1.5

# A name that is not resolved is no place without objects.
NOT_LOOKED = {
    "resolver_unavailable": "nearsky cannot resolve names now: its registry of transients is missing or too old",
    "tns_name_not_found": "nearsky's registry of transients does not have this name",
    "invalid_input": "nearsky does not understand this name",
}


class NearskyForm(BaseQueryForm):
    name = forms.CharField(required=False, label="diaObjectId or TNS name", help_text="313637935709683761 or SN 2026abc")
    ra = forms.FloatField(required=False, label="RA (deg)", min_value=0, max_value=360)
    dec = forms.FloatField(required=False, label="Dec (deg)", min_value=-90, max_value=90)
    radius_arcsec = forms.FloatField(required=False, label="Radius (arcsec)", min_value=0, initial=RADIUS_ARCSEC)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        has_place = cleaned.get("ra") is not None and cleaned.get("dec") is not None
        if not cleaned.get("name") and not has_place:
            raise forms.ValidationError("Give a diaObjectId, a TNS name, or both RA and Dec")
        return cleaned

    def simple_fields(self) -> list[str]:
        return ["name"]


class NearskyDataService(DataService):
    """Rubin objects by diaObjectId, TNS name or position, with their catalog sources."""

    name = "nearsky"
    verbose_name = "nearsky: catalog sources of Rubin objects"
    app_version = __version__

    @classmethod
    def get_form_class(cls) -> type[NearskyForm]:
        return NearskyForm

    @classmethod
    def urls(cls, **kwargs: Any) -> dict[str, str]:
        base = _base_url()
        return {"base_url": base, "info_url": f"{base}/api-docs"}

    def build_query_parameters(self, parameters: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        name = (parameters.get("name") or "").strip()
        if name:
            self.query_parameters = {"input": name}
        else:
            radius = parameters.get("radius_arcsec")
            place = [parameters["ra"], parameters["dec"], RADIUS_ARCSEC if radius is None else radius]
            self.query_parameters = {"input": place}
        return self.query_parameters

    def build_query_parameters_from_target(self, target: Any, **kwargs: Any) -> dict[str, Any]:
        return {"input": [target.ra, target.dec, SAME_PLACE_ARCSEC]}

    def query_service(self, query_parameters: dict[str, Any], **kwargs: Any) -> list[dict[str, Any]]:
        """The objects of the input, as nearsky lists them; empty if there are none.

        Raises QueryServiceError if the service could not look.
        """
        asked = query_parameters["input"]
        try:
            (result,) = _service().lookup([asked if isinstance(asked, str) else tuple(asked)], detail="full")
        except (NearskyError, ValueError) as error:
            raise QueryServiceError(str(error)) from error
        if result["status"] in NOT_LOOKED:
            raise QueryServiceError(NOT_LOOKED[result["status"]])
        self.query_results = result["objects"]
        return self.query_results

    def query_targets(self, query_parameters: dict[str, Any], **kwargs: Any) -> list[dict[str, Any]]:
        return [_target_of(found) for found in self.query_service(query_parameters, **kwargs) if found.get("ra") is not None]

    def query_aliases(self, query_parameters: Any = None, target: Any = None, **kwargs: Any) -> list[str]:
        """The diaObjectIds at the place of a target, and the TNS name, without the names that it has."""
        if target is None or target.ra is None:
            return []
        found = self.query_service(self.build_query_parameters_from_target(target))
        known = {target.name, *(alias.name for alias in target.aliases.all())}
        names = [name for each in found for name in (each["diaObjectId_str"], *_tns_names(each))]
        return [name for name in dict.fromkeys(names) if name not in known]

    def create_target_from_query(self, target_result: dict[str, Any], **kwargs: Any) -> Any:
        return Target(name=target_result["name"], type="SIDEREAL", ra=target_result["ra"], dec=target_result["dec"])

    def create_reduced_datums_from_query(self, target: Any, data: Any = None, data_type: str | None = None, **kwargs: Any) -> list[Any]:
        """None: nearsky has no photometry."""
        return []


def catalog_sources(context: Any) -> dict[str, Any]:
    """The context of the tab: the sources of the catalogs around a target, the objects there, and what was not searched."""
    target = context["target"] if "target" in context else context["object"]
    if target.ra is None or target.dec is None:
        return {"trouble": "This target has no position."}
    try:
        base, radius = _base_url(), _radius_arcsec()
        service = _service()
        near = service.sources(target.ra, target.dec, radius)
        (found,) = service.lookup([(target.ra, target.dec, radius)], detail="position")
    except (NotConfiguredError, NearskyError, ValueError) as error:
        logger.warning("nearsky: %s", error)
        return {"trouble": f"nearsky was not asked, or has not answered: {error}"}
    return {
        "base_url": base,
        "radius_arcsec": near["radius_arcsec"],
        "sources": near["sources"],
        "truncated": near["truncated"],
        "count": near["count"],
        "not_searched": [each for each in near["catalogs"] if each["outcome"] != "searched"],
        "searched": [each for each in near["catalogs"] if each["outcome"] == "searched"],
        "objects": found["objects"],
    }


def _base_url() -> str:
    return NearskyDataService.get_configuration("base_url", "http://127.0.0.1:8080").rstrip("/")


def _radius_arcsec() -> float:
    return float(NearskyDataService.get_configuration("radius_arcsec", RADIUS_ARCSEC))


def _service() -> Nearsky:
    return Nearsky(_base_url(), timeout_seconds=TIMEOUT_SECONDS)


def _tns_names(found: dict[str, Any]) -> list[str]:
    tns = found.get("tns") or {}
    return [f"{tns.get('name_prefix') or ''} {tns['name']}".strip()] if tns.get("name") else []


def _target_of(found: dict[str, Any]) -> dict[str, Any]:
    matches = sorted(found.get("matches") or [], key=lambda match: match["separation_arcsec"])
    return {
        "name": found["diaObjectId_str"],
        "ra": found["ra"],
        "dec": found["dec"],
        "status": found["status"],
        "sources": ", ".join(
            f"{match['catalog_name']} {match['catalog_source_id']} at {match['separation_arcsec']:.2f} arcsec" for match in matches
        ),
        "aliases": _tns_names(found),
    }
