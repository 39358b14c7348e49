"""A TOM with the settings that `tom_setup` writes, and nearsky. Prints what its user sees, as JSON.

argv: the address of a service with the sample; an address where nothing answers; a directory for the TOM's files.
"""

import json
import logging
import re
import sys
from html import unescape

from django.conf import settings

address, nowhere, directory = sys.argv[1:]
logging.disable(logging.CRITICAL)

from tom_common import default_settings  # noqa: E402

OWN = dict(
    BASE_DIR=directory,
    SECRET_KEY="only for this test, which keeps nothing",
    ALLOWED_HOSTS=["testserver"],
    SITE_ID=1,
    TOM_NAME="test",
    INSTALLED_APPS=[*default_settings.TOMTOOLKIT_INSTALLED_APPS, "nearsky.tom"],
    MIDDLEWARE=default_settings.TOMTOOLKIT_MIDDLEWARE,
    AUTHENTICATION_BACKENDS=default_settings.TOMTOOLKIT_AUTHENTICATION_BACKENDS,
    ROOT_URLCONF="tom_common.urls",
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
    CRISPY_TEMPLATE_PACK="bootstrap5",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{directory}/tom.sqlite3"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    USE_TZ=True,
    STATIC_URL="/static/",
    STORAGES={
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    },
    MEDIA_ROOT=directory,
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    TASKS={"default": {"BACKEND": "django_tasks.backends.immediate.ImmediateBackend"}},
    TOM_FACILITY_CLASSES=["tom_observations.facilities.lco_redirect.LCORedirectFacility"],
    FACILITIES={"LCO": {"portal_url": "https://observe.lco.global", "api_key": ""}},
    TARGET_TYPE="SIDEREAL",
    EXTRA_FIELDS=[],
    HOOKS={},
    DATA_PRODUCT_TYPES={"photometry": ("photometry", "Photometry"), "spectroscopy": ("spectroscopy", "Spectroscopy")},
    AUTH_STRATEGY="READ_ONLY",
    OPEN_URLS=[],
    TARGET_PERMISSIONS_ONLY=True,
    LOGIN_URL="/accounts/login/",
    DATA_SERVICES={"nearsky": {"base_url": address, "radius_arcsec": 2}},
)
settings.configure(**{name: value for name, value in vars(default_settings).items() if name.isupper()} | OWN)

import django  # noqa: E402

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402
from django.urls import reverse  # noqa: E402
from tom_targets.models import Target  # noqa: E402

setup_test_environment()
call_command("migrate", verbosity=0)
user = User.objects.create_superuser("observer", password="only for this test")
tom = Client()
tom.force_login(user)


def text_of(html: str) -> str:
    """The words of a page."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def tab_of(target: Target) -> str:
    page = tom.get(f"/targets/{target.pk}/").content.decode()
    return text_of(page[page.index('id="catalog-sources"') :].split('<div class="tab-pane"')[0].split(">", 1)[1])


def query(**fields: object) -> list[str]:
    """Asks in the form of the TOM, and makes targets of all that it finds."""
    form = {"data_service": "nearsky", "query_name": "", **fields}
    asked = tom.post(reverse("dataservices:create"), form, follow=True)
    results = asked.context["results"] if "results" in asked.context else []
    feedback = asked.context["query_feedback"] if "query_feedback" in asked.context else text_of(asked.content.decode())
    if results:
        chosen = {"query_id": "", "data_service": "nearsky", "selected_results": [each["id"] for each in results]}
        tom.post(reverse("dataservices:create-target"), chosen)
    return [feedback, *(f"{each['name']} {each['ra']} {each['dec']} {each['status']}" for each in results)]


mine = Target.objects.create(name="mine", type="SIDEREAL", ra=61.6222759, dec=-49.2951253)
tom.post(reverse("dataservices:update-data"), {"target": mine.pk, "data_service": "nearsky"})
aliases = sorted(alias.name for alias in mine.aliases.all())
# Names of targets are unique.
mine.delete()
seen = {
    "aliases": aliases,
    "by name": query(name="SN2099aaa"),
    "by position": query(ra=61.6222759, dec=-49.2951253, radius_arcsec=5),
    "unknown": query(name="SN2098zzz"),
    "nothing asked": query()[0].count("Give a diaObjectId, a TNS name, or both RA and Dec"),
}
target = Target.objects.get(name="313637935709683761")
seen["target"] = [target.ra, target.dec, sorted(alias.name for alias in target.aliases.all())]
seen["tab"] = tab_of(target)
seen["elsewhere"] = tab_of(Target.objects.create(name="far", type="SIDEREAL", ra=200.0, dec=80.0))
settings.DATA_SERVICES["nearsky"]["base_url"] = nowhere
seen["away"] = [tab_of(target), query(name="313637935709683761")[0]]
print(json.dumps(seen))
