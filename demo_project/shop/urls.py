"""Addresses of the shop."""

from django.urls import path

from demo_project.shop.views import (
    activity,
    checkout,
    home,
    invoices,
    leads,
    mail,
    photos,
    reports,
)

app_name = "shop"

urlpatterns = [
    path("", home.home, name="home"),
    path("activity/", activity.activity, name="activity"),
    path("checkout/", checkout.checkout, name="checkout"),
    path("mail/", mail.mail, name="mail"),
    path("invoices/", invoices.invoices, name="invoices"),
    path("invoices/<int:pk>/card/", invoices.change_card, name="change_card"),
    path("photos/", photos.photos, name="photos"),
    path("photos/sample/", photos.take_sample, name="take_sample"),
    path("photos/thumbnails/<int:pk>", photos.thumbnail, name="thumbnail"),
    path("leads/", leads.leads, name="leads"),
    path("leads/twice/", leads.send_twice, name="send_twice"),
    path("hooks/leads/", leads.hook, name="hook"),
    path("reports/", reports.reports, name="reports"),
    path("reports/<str:week>.csv", reports.download, name="download"),
    path("poison/", home.send_poison, name="poison"),
]
