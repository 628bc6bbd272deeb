"""A pytest plugin that sets the environment before Django's settings are read.

Every pytest process, whether run alone, as a worker of xdist, or beside another test run, takes a slot of
its own in the test data folder, and with it a PostgreSQL database and a logical database of Valkey.
It is loaded with -p in pyproject.toml, since a conftest.py would come after the settings.
"""

from __future__ import annotations

import os
from pathlib import Path

from embedded.folder import DataFolder, Lock
from embedded.postgres import APP, OWNER, database_url
from embedded.valkey import DATABASES, redis_url

DATA_DIR = Path(__file__).resolve().parent.parent / ".data-test"
FOLDER = DataFolder.at(DATA_DIR)

#: What a developer's shell may hold and a test must not see.
_FOREIGN = ("OMP_", "DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY", "PORT")


def _take_slot() -> tuple[int, Lock]:
    folder = DATA_DIR / "slots"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, DATABASES):
        lock = Lock(folder / f"{number}.lock")
        if lock.take():
            return number, lock
        lock.release()
    raise RuntimeError(f"All {DATABASES - 1} test slots are taken by running tests.")


#: The lock is held until the process ends.
SLOT, _slot_lock = _take_slot()
DATABASE = f"test_{SLOT}"

for _name in list(os.environ):
    if _name.startswith(_FOREIGN):
        del os.environ[_name]
os.environ.update(
    {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "OMP_DATA_DIR": str(DATA_DIR),
        "OMP_EMBEDDED_FAST": "1",
        "SECRET_KEY": "the tests' own key, which protects nothing " * 2,
        "DATABASE_URL": database_url(FOLDER, APP, DATABASE),
        "DATABASE_OWNER_URL": database_url(FOLDER, OWNER, DATABASE),
        "REDIS_URL": redis_url(FOLDER, SLOT),
    }
)
