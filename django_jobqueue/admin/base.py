"""What the lists and their pages have in common: they show, quickly, and change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy

from django_jobqueue.admin.filters import ChoiceFilter
from django_jobqueue.admin.paging import Keyset, KeysetChangeList
from django_jobqueue.admin.rows import fragile
from django_jobqueue.database import queue_database

# Pages that other pages link to.
_LINKED = ("job", "deadletter", "worker", "pause", "limit", "auditentry")


class QueueAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A list in keyset order and a page per row, both read-only."""

    keyset: ClassVar[Keyset] = Keyset()
    page_template: ClassVar[str]
    search_depth: ClassVar[int] = 50_000
    search_placeholder: ClassVar[Any] = ""
    empty_text: ClassVar[Any] = gettext_lazy("Nothing here.")

    actions = None
    empty_value_display = ""
    list_per_page = 50
    list_display_links: Any = None
    sortable_by = ()
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    change_list_template = "admin/django_jobqueue/change_list.html"

    class Media:
        css = {"all": ["django_jobqueue/admin.css"]}
        js = ["django_jobqueue/admin.js"]

    # --- What a subclass says

    def rows_of_page(self, pks: Sequence[Any]) -> list[Any]:
        """Fetch the rows of a page of the list, in this order, with all that its columns show."""
        raise NotImplementedError

    def page_of(self, request: HttpRequest, pk: Any) -> dict[str, Any] | None:
        """Return the context of a row's own page, with its `heading`; None where there is no such row."""
        raise NotImplementedError

    def rows_to_search(self, changelist: Any) -> QuerySet[Any] | None:
        """Return the rows to look through for those that match, or None where an index leads to them."""
        narrowing = any(spec.is_narrowing for spec in changelist.filter_specs)
        return self.all_rows() if narrowing or (changelist.query and not _is_id(changelist.query)) else None

    def all_rows(self) -> QuerySet[Any]:
        """Return every row, on the database where decisions are made: a replica may not have heard yet."""
        rows: QuerySet[Any] = self.model._default_manager.using(queue_database())
        return rows

    # --- Reading only

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Rows come from the queue."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody edits the state of a queue by form."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Old rows are pruned, by age."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """View means view: the permission to change, which stands for nothing here, does not include it."""
        codename = f"{self.opts.app_label}.view_{self.opts.model_name}"
        return bool(request.user.has_perm(codename))

    # --- The list

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Never load what may fail to load."""
        return self.all_rows().defer(*fragile(self.model))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetChangeList]:
        """Turn pages by keyset."""
        return KeysetChangeList

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Only by the filters on the page: others have no bound on what they cost."""
        filters = [spec for spec in self.list_filter if isinstance(spec, type) and issubclass(spec, ChoiceFilter)]
        return lookup in {spec.parameter_name for spec in filters}

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list. A POST to it is somebody's own idea."""
        if request.method == "POST":
            raise PermissionDenied
        context = {
            "title": capfirst(self.opts.verbose_name_plural),
            "search_placeholder": self.search_placeholder,
            "search_depth": f"{self.search_depth:,}",
            "empty_text": self.empty_text,
            "may_view": self._may_view(request),
        }
        return super().changelist_view(request, context | (extra_context or {}))

    # --- The page

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show one row."""
        if request.method == "POST" or not self.has_view_permission(request):
            raise PermissionDenied
        try:
            page = self.page_of(request, self.opts.pk.to_python(unquote(object_id)))
        except ValidationError:
            page = None
        if page is None:
            gone: HttpResponse = self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
            return gone
        return self.render(request, self.page_template, page)

    def render(self, request: HttpRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
        """Answer with a page of this admin."""
        request.current_app = self.admin_site.name
        common = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "media": self.media,
            "has_view_permission": self.has_view_permission(request),
            "preserved_filters": self.get_preserved_filters(request),
            "is_popup": False,
            "may_view": self._may_view(request),
        }
        return TemplateResponse(request, template, common | context)

    def _may_view(self, request: HttpRequest) -> dict[str, bool]:
        return {name: request.user.has_perm(f"{self.opts.app_label}.view_{name}") for name in _LINKED}


def _is_id(query: str) -> bool:
    return query.isdecimal() and query.isascii()
