"""Token shapes of payment, shops, chat, mail, social networks and language models."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from tests.payload.secret_corpus_three.draw import Draw


def mapbox_secret(draw: Draw) -> str:
    inner = json.dumps({"u": draw.fill("[c8]"), "a": draw.fill("cl[l23]")}, separators=(",", ":"))
    return "sk." + base64.urlsafe_b64encode(inner.encode()).decode().rstrip("=") + draw.fill(".[w22]")


def discord_bot(draw: Draw) -> str:
    user = base64.b64encode(str(draw.randint(10**17, 10**18)).encode()).decode().rstrip("=")
    return user + draw.fill(".G[w5].[w38]")


SHAPES: dict[str, str | Callable[[Draw], str]] = {
    # Stripe's documentation of keys; gitleaks stripe-access-token; Paystack's keys are alike.
    "stripe-secret": "sk_live_[a24]",
    "stripe-secret-long": "sk_live_51[a97]",
    "stripe-restricted": "rk_live_51[a97]",
    "stripe-test-secret": "sk_test_51[a97]",
    "stripe-webhook-secret": "whsec_[a32]",
    "paystack-secret": "sk_live_[h40]",
    # gitleaks square-access-token; detect-secrets square_oauth.
    "square-access-token": "EAAA[w60]",
    "square-legacy-token": "sq0atp-[w22]",
    "square-oauth-secret": "sq0csp-[w43]",
    # Braintree in the lists of truffleHog and gitrob; gitleaks plaid-, flutterwave-, shippo-, easypost-, duffel-*.
    "braintree-access-token": "access_token$production$[l16]$[h32]",
    "plaid-access-token": "access-production-[U]",
    "flutterwave-secret": "FLWSECK_TEST-[h32]-X",
    "shippo-token": "shippo_live_[h40]",
    "easypost-key": "EZAK[a54]",
    "duffel-token": "duffel_live_[w43]",
    # Paddle's "API keys" and Mercado Pago's "credentials".
    "paddle-key": "pdl_live_apikey_01[l24]_[a22]_[a3]",
    "mercadopago-token": "APP_USR-[d16]-[d6]-[h32]-[d9]",
    # gitleaks shopify-*; HubSpot's private apps; Kingfisher salesforce.1.
    "shopify-access-token": "shpat_[h32]",
    "shopify-custom-app": "shpca_[h32]",
    "shopify-private-app": "shppa_[h32]",
    "shopify-shared-secret": "shpss_[h32]",
    "hubspot-private-app": "pat-na1-[U]",
    "salesforce-session": "00D[a12]![a8].[w96]",
    "intercom-token": lambda d: base64.b64encode(d.fill("tok:[h8]_[h4]_[h4]_[h4]_[h12]:1:0").encode()).decode(),
    # Slack's "token types"; gitleaks slack-*.
    "slack-bot": "xoxb-[d12]-[d13]-[a24]",
    "slack-user": "xoxp-[d12]-[d12]-[d13]-[h32]",
    "slack-app": "xapp-1-A0[u9]-[d13]-[h64]",
    "slack-refresh": "xoxe-1-[a146]",
    # Discord's and Telegram's documentation; detect-secrets discord, telegram_token.
    "discord-bot": discord_bot,
    "telegram-bot": "[d10]:AA[w33]",
    # A Twilio API key's SID is an id; its secret has no shape (gitleaks twilio-api-key flags the SID).
    "debatable:twilio-api-key-sid": "SK[h32]",
    # Mail: gitleaks sendgrid-, sendinblue-*; Nosey Parker mailgun; detect-secrets mailchimp;
    # Mandrill's, Resend's and MailerSend's documentation.
    "sendgrid-key": "SG.[w22].[w43]",
    "mailgun-key": "key-[h32]",
    "mailchimp-key": "[h32]-us14",
    "mandrill-key": "md-[a22]",
    "brevo-key": "xkeysib-[h64]-[a16]",
    "brevo-smtp-key": "xsmtpsib-[h64]-[a16]",
    "resend-key": "re_[a8]_[a24]",
    "mailersend-key": "mlsn.[h64]",
    # Networks: gitleaks facebook-page-access-token, twitter-bearer-token, dropbox-short-lived; Mapbox "token types".
    "facebook-access-token": "EAAC[a170]",
    "twitter-bearer": "AAAAAAAAAAAAAAAAAAAAAA[a27]%3D[a50]",
    "dropbox-short-lived": "sl.B[w134]",
    "mapbox-secret": mapbox_secret,
    # Language models: gitleaks openai-, anthropic-, huggingface-, perplexity-*; Nosey Parker groq, jina, tavily,
    # firecrawl; Kingfisher langchain.1-2, openrouter.1; xAI's, Replicate's, NVIDIA's, Langfuse's, ElevenLabs' docs.
    "openai-legacy": "sk-[a20]T3BlbkFJ[a20]",
    "openai-project": "sk-proj-[w74]T3BlbkFJ[w74]",
    "openai-service-account": "sk-svcacct-[w74]T3BlbkFJ[w74]",
    "openai-admin": "sk-admin-[w58]T3BlbkFJ[w58]",
    "anthropic-api": "sk-ant-api03-[w93]AA",
    "anthropic-admin": "sk-ant-admin01-[w93]AA",
    "huggingface-user": "hf_[L34]",
    "huggingface-org": "api_org_[L34]",
    "groq-key": "gsk_[a20]WGdyb3FY[a24]",
    "xai-key": "xai-[a80]",
    "perplexity-key": "pplx-[a48]",
    "replicate-token": "r8_[a37]",
    "openrouter-key": "sk-or-v1-[h64]",
    "deepseek-key": "sk-[h32]",
    "nvidia-key": "nvapi-[w64]",
    "tavily-key": "tvly-[a32]",
    "tavily-dev-key": "tvly-dev-[a32]",
    "langsmith-pat": "lsv2_pt_[h32]_[h10]",
    "langsmith-service": "lsv2_sk_[h32]_[h10]",
    "langfuse-secret": "sk-lf-[U]",
    "jina-key": "jina_[h32][a28]",
    "firecrawl-key": "fc-[h32]",
    "elevenlabs-key": "sk_[h48]",
}
