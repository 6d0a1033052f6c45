"""What a visitor may send, and how large it may be."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.template.defaultfilters import filesizeformat

from demo_project.shop.cards import CARDS, GOOD
from demo_project.shop.models import Product
from demo_project.shop.week import Week

CARD_CHOICES = [(card.number, card.label) for card in CARDS]


class CheckoutForm(forms.Form):
    """Who buys, with which card, and how many of each print."""

    name = forms.CharField(max_length=80, label="Your name", initial="Ada Lovelace")
    email = forms.EmailField(label="Your address", initial="ada@example.com", max_length=150)
    card = forms.ChoiceField(choices=CARD_CHOICES, initial=GOOD.number)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.products = list(Product.objects.all())
        for position, product in enumerate(self.products):
            self.fields[_field_name(product)] = forms.IntegerField(
                min_value=0,
                max_value=20,
                required=False,
                initial=1 if position == 0 else 0,
                label=f"How many of {product.name}",
            )

    def clean(self) -> dict[str, Any]:
        """Gather the basket. Raises ValidationError for an empty one."""
        cleaned = super().clean() or self.cleaned_data
        basket = {p: cleaned.get(_field_name(p)) or 0 for p in self.products}
        cleaned["basket"] = {product: count for product, count in basket.items() if count}
        if not cleaned["basket"] and not self.errors:
            raise forms.ValidationError("Put at least one print in the basket.")
        return cleaned

    def shelf(self) -> list[tuple[Product, forms.BoundField]]:
        """Pair each print with the field that says how many."""
        return [(product, self[_field_name(product)]) for product in self.products]


class PhotoForm(forms.Form):
    """A photo. Only its size is looked at here; what is in it, the job finds out."""

    title = forms.CharField(max_length=80)
    original = forms.FileField(label="Photo", widget=forms.ClearableFileInput(attrs={"accept": "image/*"}))

    def clean_original(self) -> UploadedFile[bytes]:
        """Refuse a file that is too large."""
        original: UploadedFile[bytes] = self.cleaned_data["original"]
        if (original.size or 0) > settings.SHOP_MAX_UPLOAD_BYTES:
            limit = filesizeformat(settings.SHOP_MAX_UPLOAD_BYTES)
            raise forms.ValidationError(f"A photo may have {limit}; this one is larger.")
        return original


class SampleForm(forms.Form):
    """One of the photos that the shop has at hand."""

    SAMPLES = (
        ("dawn", "Hills at dawn"),
        ("noon", "Hills at noon"),
        ("dusk", "Hills at dusk"),
        ("damaged", "An upload that broke off"),
        ("bomb", "A decompression bomb"),
    )
    sample = forms.ChoiceField(choices=SAMPLES)


class CardForm(forms.Form):
    """Another card for an invoice."""

    card = forms.ChoiceField(choices=CARD_CHOICES)


class WeekForm(forms.Form):
    """A week to report on."""

    week = forms.CharField(max_length=8, label="Week")

    def clean_week(self) -> str:
        """Refuse what is not a week."""
        try:
            return str(Week.parse(self.cleaned_data["week"]))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None


def _field_name(product: Product) -> str:
    return f"product_{product.pk}"
