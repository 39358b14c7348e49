"""nearsky in a TOM (TOM Toolkit 3): a data service, and a tab with the catalog sources at the position of a target.

Add "nearsky.tom" to INSTALLED_APPS, and the address of the service to the settings:

    DATA_SERVICES = {"nearsky": {"base_url": "https://nearsky.example.org", "radius_arcsec": 5}}

`radius_arcsec` is the radius of the tab, from 0 to 60, 5 by default.
"""
