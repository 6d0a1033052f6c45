"""The addresses of the admin alone, to count them."""

from django.contrib import admin

urlpatterns = admin.site.urls[0]
