# A sample is easier to read on one line; a list of words is easier to read as a text.
# ruff: noqa: E501, SIM905
"""Innocent values beside names in which a telling word hides, or seems to."""

from __future__ import annotations

from collections.abc import Iterator

from tests.payload.secret_corpus_three.draw import Draw

GROUPS: dict[str, list[object]] = {
    "name-author": [
        {"author": "Ursula K. Le Guin", "title": "The Dispossessed"}, {"authors": ["A. Turing", "A. Church"], "year": 1937},
        {"author_id": 42, "co_author": "Jo Smith"}, {"authoring_tool": "LibreOffice 24.2", "pages": 12},
        {"authorised_by": "Dana Fox", "authorised_at": "2024-05-02T08:00:00Z"}, {"authority": "City of Leipzig", "level": 3},
        {"authorization_status": "approved", "amount": "12.50"}, {"authenticated": True, "auth_method": "saml"},
        {"authorName": "Annemarie Schimmel-Weißenborn"}, {"oauth_scopes": ["read:user", "repo"], "auth_provider": "google"},
    ],
    "name-token-counts": [
        {"tokens_used": 1834, "model": "small"}, {"token_count": 512, "truncated": False}, {"max_tokens": 4096, "temperature": 0.2},
        {"prompt_tokens": 80, "completion_tokens": 412}, {"token_type": "bearer", "expires_in": 3600},
        {"tokenizer": "cl100k_base", "vocabulary": 100256}, {"token_expires_at": "2024-06-01T00:00:00Z"},
        {"tokens": ["the", "quick", "brown", "fox"]}, {"token_symbol": "USDC", "token_decimals": 6}, {"token_id": 7, "token_name": "ci deploy"},
    ],
    "name-password-facts": [
        {"password_changed_at": "2024-01-02T10:00:00Z"}, {"password_length": 16, "password_policy": "strong"},
        {"password_reset_requested": True, "user_id": 9}, {"passwordless": True}, {"has_password": False},
        {"password_expires_in_days": 30, "login": "dana"}, {"password_hint_shown": False}, {"last_password_change": "2023-12-24"},
        {"password_strength": "medium"}, {"require_password": True, "password_min_length": 12},
    ],
    "name-secret-words": [
        {"secret_santa_group": "Marketing 2024"}, {"secretary": "Frau Lindner"}, {"secretariat_email": "office@example.org"},
        {"secret_level": "restricted", "document": 18}, {"secret_ingredient": "cinnamon"}, {"secret_name": "prod/mail/smtp", "rotate": True},
        {"secret_id": "projects/12/secrets/smtp/versions/3"}, {"is_secret": False, "board": "ideas"}, {"secrets_count": 4}, {"top_secret_sale": True},
    ],
    "name-key-words": [
        {"key": "shipping.address.city", "value": "Halle"}, {"keyboard": "qwertz", "layout": "de"}, {"monkey": "capuchin", "legs": 2},
        {"turkey": "roast", "kg": 4.5}, {"keywords": ["lamp", "oak", "desk"]}, {"primary_key": "id", "foreign_key": "order_id"},
        {"key_id": 12, "api_key_id": 88}, {"hotkey": "ctrl+shift+k"}, {"keynote": "Opening by the mayor"}, {"api_key_name": "ci", "key_version": 3},
    ],
    "name-key-places": [
        {"s3_key": "exports/2024/05/report.csv"}, {"sort_key": "2024-05-02#order#18"}, {"partition_key": "tenant-42"}, {"cache_key": "home:de:v3"},
        {"key_path": "/etc/ssl/private/web.key"}, {"routing_key": "orders.created.eu"}, {"object_key": "img/2024/lamp-oak.webp"},
        {"dedupe_key": "invoice:2024-05:42"}, {"private_key_path": "/run/keys/deploy"}, {"kms_key_alias": "alias/orders"},
    ],
    "name-pass-words": [
        {"passenger": "Jun Ito", "seat": "14C"}, {"passed": 182, "failed": 3}, {"passport_country": "FR"}, {"bypass_cache": True},
        {"compass": "NNE"}, {"boarding_pass_url": "https://fly.example.com/p/182"}, {"ski_pass": "3 days", "price": "189.00"},
        {"passage": "It was a bright cold day in April."}, {"overpass_turbo_query": "node[amenity=bench]"}, {"pass_rate": 0.982},
    ],
    "name-pin-words": [
        {"pinned": True, "post": 12}, {"pin": {"lat": 51.34, "lng": 12.37}}, {"pinterest_board": "kitchens"}, {"shopping_list": ["milk", "tea"]},
        {"pincode_area": "Leipzig Mitte"}, {"spinner": False}, {"pin_count": 40, "connector": "USB-C"}, {"pinned_version": "3.12.4"},
        {"pinyin": "mìmǎ"}, {"pin_color": "#d22", "label": "Office"},
    ],
    "name-session-words": [
        {"session_count": 14}, {"session_title": "Typing in practice", "room": "B2"}, {"session_length_minutes": 45}, {"sessions": [{"day": 1}, {"day": 2}]},
        {"session_start": "2024-05-02T08:00:00Z"}, {"training_session": "yoga"}, {"session_timeout_seconds": 1800}, {"session_type": "workshop"},
        {"session_engine": "django.contrib.sessions.backends.db"}, {"jam_session": "Friday night"},
    ],
    "name-cookie-and-sign-words": [
        {"cookie_consent": "all"}, {"cookies_accepted": True}, {"cookie_recipe": "oats, butter, sugar"}, {"signature_required": True},
        {"signed_by": "Dr. Mayer", "signed_at": "2024-05-02"}, {"sign": "Aquarius"}, {"signal": "SIGTERM"}, {"design": "flat"},
        {"signup_source": "newsletter"}, {"assignee": "jo", "signoff": False},
    ],
    "name-credential-words": [
        {"credit": "120.00"}, {"credits_left": 42}, {"credential_type": "diploma", "issuer": "TU Dresden"}, {"accredited": True},
        {"card_brand": "visa", "card_last4": "4242"}, {"card_exp_month": 4, "card_exp_year": 2027}, {"card_layout": "grid"},
        {"scorecard": {"home": 3, "away": 1}}, {"postcard_text": "Greetings from Rügen"}, {"cvc_check": "pass"},
    ],
    "name-access-words": [
        {"access_level": "editor"}, {"accessibility": "wheelchair"}, {"accessory": "lampshade", "qty": 2}, {"accessed_at": "2024-05-02T08:00:00Z"},
        {"access_log": "/var/log/nginx/access.log"}, {"public_access": False}, {"access_mode": "ReadWriteOnce"}, {"network_access": ["10.0.0.0/8"]},
        {"early_access": True}, {"access_type": "offline"},
    ],
    "name-german-and-french-words": [
        {"passagier": "Frau Kühn"}, {"schluesselnummer": 0, "schlüsselbund": "Keller"}, {"passwort_geaendert_am": "2024-02-01"},
        {"geheimtipp": "Café am Markt"}, {"clef_de_sol": True}, {"mot_cle": "jardin"}, {"mots": ["un", "deux"]}, {"clave_de_sol": 4},
        {"pass_navigo": "zones 1-5"}, {"geheimratsecken": "nein"},
    ],
    "name-empty-or-masked": [
        {"password": ""}, {"password": None}, {"api_key": "********"}, {"token": "[redacted]"}, {"secret": "<hidden>"}, {"password": "xxxxxxxx"},
        {"access_token": "***REMOVED***"}, {"client_secret": "${CLIENT_SECRET}"}, {"password": "{{ vault_db_password }}"}, {"api_key": "your-api-key-here"},
    ],
    "name-reference-to-a-secret": [
        {"password_env": "DB_PASSWORD"}, {"secret_ref": "vault:kv/data/shop#smtp"}, {"token_file": "/var/run/secrets/token"},
        {"api_key_setting": "STRIPE_API_KEY"}, {"password_from": {"secretKeyRef": {"name": "db", "key": "password"}}},
        {"credentials_path": "~/.aws/credentials"}, {"secret_arn": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:smtp-AbCdEf"},
        {"token_url": "https://id.example.com/oauth/token"}, {"auth_url": "https://id.example.com/authorize"}, {"password_source": "keyring"},
    ],
    "name-boolean-and-number": [
        {"password": True}, {"secret": False}, {"token": 7}, {"auth": "none"}, {"auth": "required"}, {"private": True, "key": 3}, {"pin": False},
        {"session": 4}, {"cookie": False}, {"api_key": None, "auth": None},
    ],
    "state-words": [
        {"state": s, "from": f} for s, f in zip("paid shipped failed queued cancelled refunded active blocked pending done".split(), ["new"] * 10, strict=True)
    ],
    "feature-flags": [
        {"flags": {"new_checkout": True, "token_login": i % 2 == 0, "passwordless-beta": False, f"exp-{i}": "variant_b"}} for i in range(10)
    ],
    "form-field-names": [
        {"missing": ["email", "password"]}, {"fields": ["username", "password", "otp"]}, {"changed_fields": ["password", "updated_at"]},
        {"error": {"password": ["This field is required."]}}, {"columns": "id,name,token,created"}, {"form": "password_reset"},
        {"template": "emails/password_reset.html", "user_id": 8}, {"event": "user.password_changed"}, {"audit": "API key deleted"}, {"permission": "auth.change_password"},
    ],
}  # fmt: skip


def payloads() -> Iterator[tuple[str, object]]:
    """Each payload within a job's other arguments, every second one deeper."""
    for kind, given in GROUPS.items():
        draw = Draw(f"plain/{kind}")
        for number, payload in enumerate(given):
            yield kind, payload if number % 2 else {"id": draw.randint(1, 9999), "data": payload}
