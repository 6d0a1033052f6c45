"""What has to run for the shop to be open: four partners, the site, two workers."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from django.conf import settings

from demo_project.ports import free_port
from demo_project.processes import Child, ChildFailed, Processes

READY_SECONDS = 30.0


class Stage:
    """The running shop. `env` grows by what each part tells the next."""

    def __init__(self, processes: Processes, state: Path, env: Mapping[str, str]) -> None:
        self.processes = processes
        self.state = state
        self.env = {**env, "SHOP_STATE_DIR": str(state)}
        self.partners: list[Child] = []
        self.workers: list[Child] = []
        self.site: Child | None = None
        self.url = ""

    def start_partners(self, *, hang_seconds: float = 6.0) -> None:
        """Start the mail server, the provider, the directory and the CRM, each on a free port."""
        self.state.mkdir(parents=True, exist_ok=True)
        mail = self._partner("mail_server", "--inbox", str(self.state / "inbox"))
        payments = self._partner("payments", "--ledger", str(self.payments), "--hang-seconds", str(hang_seconds))
        directory = self._partner("enrichment")
        crm = self._partner("crm", "--ledger", str(self.crm))
        self.env |= {
            "SHOP_SMTP_PORT": mail.wait_until_listening(READY_SECONDS).rpartition(":")[2],
            "SHOP_PAYMENTS_URL": f"http://{payments.wait_until_listening(READY_SECONDS)}",
            "SHOP_ENRICHMENT_URL": f"http://{directory.wait_until_listening(READY_SECONDS)}",
            "SHOP_CRM_URL": f"http://{crm.wait_until_listening(READY_SECONDS)}",
        }

    def start_site(self, wanted_port: int = 0) -> None:
        """Start the web site, on the port wanted if nobody has it. Returns before it answers."""
        port = free_port(wanted_port)
        self.url = f"http://127.0.0.1:{port}/"
        self.site = self.manage("site", "runserver", "--noreload", f"127.0.0.1:{port}")

    def start_workers(self) -> None:
        """Start a worker for pictures, with few slots, and one for all the rest."""
        words = ["runworker", "--queue", "pictures", "--processes", "1", "--threads", "2"]
        self.workers.append(self.manage("pictures", *words))
        self.start_general_worker()

    def start_general_worker(self) -> Child:
        """Start the worker that serves all but pictures."""
        words = ["runworker", "--exclude-queue", "pictures", "--processes", "2", "--threads", "2"]
        worker = self.manage("worker", *words)
        self.workers.append(worker)
        return worker

    def kill_worker(self, worker: Child) -> None:
        """Kill a worker as a power cut would: no signal that it could handle, no goodbye."""
        worker.kill()
        self.processes.forget(worker)
        self.workers.remove(worker)

    def wait_until_open(self) -> None:
        """Wait until the site answers. Raises ChildFailed."""
        assert self.site is not None  # noqa: S101 - started before, for the type checker
        opener = build_opener(ProxyHandler({}))
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                with opener.open(f"{self.url}favicon.ico", timeout=5):
                    return
            except (URLError, OSError):
                if self.site.exit_code is not None or time.monotonic() > deadline:
                    raise ChildFailed(self.site.last_words("does not answer")) from None
                time.sleep(0.05)

    def close(self) -> dict[str, int]:
        """End site and workers, then their partners, so that no job in flight finds them gone."""
        site = [self.site] if self.site else []
        codes = self.processes.stop([*site, *self.workers])
        return codes | self.processes.stop(self.partners)

    def manage(self, name: str, *words: str) -> Child:
        """Start a management command."""
        manage_py = str(Path(settings.BASE_DIR) / "manage.py")
        return self.processes.start(name, [sys.executable, manage_py, *words], self.env)

    @property
    def payments(self) -> Path:
        """Say where the provider keeps its book."""
        return self.state / "payments.sqlite3"

    @property
    def crm(self) -> Path:
        """Say where the CRM keeps its entries."""
        return self.state / "crm.sqlite3"

    def _partner(self, module: str, *words: str) -> Child:
        name = f"demo_project.shop.services.{module}"
        # -m looks for modules in the current folder, which may be another one.
        env = self.env | {"PYTHONPATH": str(settings.BASE_DIR)}
        child = self.processes.start(module, [sys.executable, "-m", name, *words], env)
        self.partners.append(child)
        return child


def quick_environment(database: str) -> dict[str, str]:
    """Give the settings of a rehearsal: its own database, short leases, short waits."""
    options = {"lease_seconds": 3, "rescue_seconds": 1, "poll_seconds": 0.25, "grace_seconds": 4}
    return {
        "DEMO_DATABASE": database,
        "JOBQUEUE_OPTIONS": json.dumps(options),
        "SHOP_BACKOFF_SECONDS": "0.2",
        "SHOP_REQUEST_SECONDS": "3",
    }
