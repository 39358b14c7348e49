"""What a TOM finds when "nearsky.tom" is among its INSTALLED_APPS."""

from django.apps import AppConfig


class NearskyConfig(AppConfig):
    name = "nearsky.tom"
    label = "nearsky"
    verbose_name = "nearsky"

    def data_services(self) -> "list[dict[str, str]]":
        return [{"class": "nearsky.tom.data_service.NearskyDataService"}]

    def target_detail_tabs(self) -> "list[dict[str, str]]":
        return [
            {
                "label": "Catalog sources",
                "partial": "nearsky/catalog_sources.html",
                "context": "nearsky.tom.data_service.catalog_sources",
            }
        ]
