"""Tokens that their format gives away: a prefix, an alphabet and a length, as vendors and scanners publish them.

A template is read by `Dice.fill`. The payloads around the tokens avoid telling key names, so that the value must be
recognised; each names the vendor, as real payloads do and as some scanners need.
"""

from tests.payload.secret_corpus_two.drawing import Dice

# gitleaks, config/gitleaks.toml. Where a rule asks for the vendor's name nearby, the payload around has it.
GITLEAKS = {
    "1Password secret key": "A|3-<upper 6>-<upper 11>-<upper 5>-<upper 5>-<upper 5>",
    "1Password service account token": "ops|_eyJ<b64 260>",
    "Adobe client secret": "p8|e-<lower 32>",
    "age secret key": "AGE-SECRET|-KEY-1<bech32 58>",
    "Alibaba access key": "LT|AI<lower 20>",
    "Anthropic API key": "sk-|ant-|api03-<word 93>AA",
    "Anthropic admin key": "sk-|ant-|admin01-<word 93>AA",
    "Artifactory API key": "AK|Cp<alnum 69>",
    "Artifactory reference token": "cm|Vmd<alnum 59>",
    "Atlassian API token": "ATA|TT3<word 186>",
    # Half of a pair and by itself an identifier; every scanner reports it, because the other half is never far.
    "AWS access key id": "AK|IA<base32 16>",
    "AWS temporary access key id": "AS|IA<base32 16>",
    "Azure client secret": "<alnum 3>8|Q~<word 34>",
    "ClickHouse Cloud key": "4b|1d<alnum 38>",
    "Clojars deploy token": "CLO|JARS_<hex 60>",
    "Cloudflare origin CA key": "v1.|0-<hex 24>-<hex 146>",
    "Databricks token": "da|pi<hex 32>",
    "DigitalOcean personal token": "dop|_v1_<hex 64>",
    "DigitalOcean OAuth token": "doo|_v1_<hex 64>",
    "DigitalOcean refresh token": "dor|_v1_<hex 64>",
    "Doppler token": "dp.|pt.<alnum 43>",
    "Duffel token": "duf|fel_live_<word 43>",
    "Dynatrace token": "dt0|c01.<upper 24>.<upper 64>",
    "EasyPost API key": "EZ|AK<alnum 54>",
    "Facebook access token": "EA|AC<alnum 160>",
    "Flutterwave secret key": "FLW|SECK_TEST-<hex 32>-X",
    "Fly.io token": "fo|1_<word 43>",
    "Frame.io token": "fi|o-u-<word 64>",
    "Google API key": "AI|zaSy<word 33>",
    "GitHub personal token": "gh|p_<alnum 36>",
    "GitHub fine-grained token": "github|_pat_<alnum 22>_<alnum 59>",
    "GitHub OAuth token": "gh|o_<alnum 36>",
    "GitHub user-to-server token": "gh|u_<alnum 36>",
    "GitHub installation token": "gh|s_<alnum 36>",
    "GitHub refresh token": "gh|r_<alnum 36>",
    "GitLab personal token": "gl|pat-<word 20>",
    "GitLab routable token": "gl|pat-<word 27>.<lower 9>",
    "GitLab deploy token": "gl|dt-<word 20>",
    "GitLab trigger token": "gl|ptt-<hex 40>",
    "GitLab runner token": "gl|rt-<word 20>",
    "GitLab job token": "gl|cbt-64_<word 20>",
    "GitLab feed token": "gl|ft-<word 20>",
    "GitLab OAuth secret": "gl|oas-<hex 64>",
    "GitLab runner registration token": "GR|1348941<word 20>",
    "GoCardless token": "li|ve_<word 40>",
    "Grafana Cloud token": "gl|c_<b64 80>",
    "Grafana service account token": "gl|sa_<alnum 32>_<hex 8>",
    "Harness personal token": "pa|t.<word 22>.<hex 24>.<alnum 20>",
    "HashiCorp Terraform token": "<alnum 14>.atlas|v1.<word 67>",
    "HashiCorp Vault service token": "hv|s.<word 95>",
    "HashiCorp Vault batch token": "hv|b.<word 150>",
    "Heroku API key": "HR|KU-AA<word 58>",
    "Hugging Face token": "h|f_<letter 34>",
    "Infracost API key": "ic|o-<alnum 32>",
    "Linear API key": "lin|_api_<alnum 40>",
    "Mailchimp API key": "<hex 32>|-us<digit 2>",
    "Mailgun private key": "ke|y-<hex 32>",
    "MaxMind license key": "<alnum 6>_<alnum 29>|_mmk",
    "Microsoft Teams webhook": (
        "https://acme.webhook|.office.com/webhookb2/<uuid>@<uuid>/Incoming|Webhook/<hex 32>/<uuid>"
    ),
    "NewRelic user key": "NR|AK-<upper 27>",
    "NewRelic insert key": "NR|II-<word 32>",
    "Notion integration token": "nt|n_<digit 11><alnum 35>",
    "npm access token": "np|m_<alnum 36>",
    "Octopus Deploy API key": "AP|I-<upper 26>",
    "OpenAI legacy key": "s|k-<alnum 20>T3Blbk|FJ<alnum 20>",
    "OpenAI project key": "s|k-proj-<word 74>T3Blbk|FJ<word 74>",
    "OpenAI service account key": "s|k-svcacct-<word 58>T3Blbk|FJ<word 58>",
    "OpenShift user token": "sha|256~<word 43>",
    "Perplexity API key": "pp|lx-<alnum 48>",
    "PlanetScale API token": "psc|ale_tkn_<word 43>",
    "PlanetScale OAuth token": "psc|ale_oauth_<word 43>",
    "PlanetScale database password": "psc|ale_pw_<word 43>",
    "Postman API key": "PM|AK-<hex 24>-<hex 34>",
    "Prefect API key": "pn|u_<alnum 36>",
    "Pulumi access token": "pu|l-<hex 40>",
    "PyPI upload token": "py|pi-AgEIcHlwaS5v|cmc<word 140>",
    "ReadMe API key": "rd|me_<lower 70>",
    "RubyGems API key": "ruby|gems_<hex 48>",
    "SendGrid API key": "S|G.<word 22>.<word 43>",
    "Brevo API key": "xke|ysib-<hex 64>-<alnum 16>",
    "Sentry user token": "snt|ryu_<hex 64>",
    "Shippo live token": "ship|po_live_<hex 40>",
    "Shopify access token": "shp|at_<hex 32>",
    "Shopify custom app token": "shp|ca_<hex 32>",
    "Shopify private app token": "shp|pa_<hex 32>",
    "Shopify shared secret": "shp|ss_<hex 32>",
    "Slack bot token": "xo|xb-<digit 12>-<digit 13>-<alnum 24>",
    "Slack user token": "xo|xp-<digit 12>-<digit 12>-<digit 13>-<hex 32>",
    "Slack app token": "xa|pp-1-A<upper 10>-<digit 13>-<hex 64>",
    "Slack configuration refresh token": "xo|xe-1-<upper 146>",
    "Slack webhook": "https://hooks|.slack.com/services/T<upper 8>/B<upper 10>/<alnum 24>",
    "Sourcegraph access token": "sg|p_<hex 16>_<hex 40>",
    "Square access token": "EA|AA<word 60>",
    "Square legacy access token": "sq|0atp-<word 22>",
    "Stripe live secret key": "sk|_live_<alnum 24>",
    "Stripe long secret key": "sk|_live_51<alnum 97>",
    "Stripe restricted key": "rk|_live_<alnum 24>",
    # It moves no money, but lets in to the data of the test account; a reviewer asks for it to be taken out.
    "Stripe test secret key": "sk|_test_<alnum 24>",
    "Telegram bot token": "<digit 10>:A|A<word 33>",
    # A user name to Twilio, whose secret goes beside it; gitleaks and GitHub report it all the same.
    "Twilio API key": "S|K<hex 32>",
    "Typeform personal token": "tf|p_<word 44>_<alnum 14>",
    "Yandex API key": "AQ|VN<word 36>",
}
# detect-secrets, detect_secrets/plugins/{discord,pypi_token,square_oauth}.py.
DETECT_SECRETS = {
    "Discord bot token": "M|<alnum 23>.<word 6>.<word 27>",
    "TestPyPI upload token": "py|pi-AgENdGVzdC5w|eXBpLm9yZw<word 120>",
    "Square OAuth secret": "sq|0csp-<word 43>",
}
# trufflehog, pkg/detectors/*.
TRUFFLEHOG = {
    "Airtable personal token": "pa|t<alnum 14>.<hex 64>",
    "Buildkite API token": "bk|ua_<hex 40>",
    "CircleCI personal token": "CC|IPAT_<alnum 22>_<hex 40>",
    "Discord webhook": "https://discord|.com/api/webhooks/<digit 18>/<alnum 68>",
    "Docker Hub token": "dc|kr_pat_<word 27>",
    "Figma personal token": "fi|gd_<word 40>",
    "Groq API key": "gs|k_<alnum 52>",
    "HubSpot private app token": "pa|t-eu1-<uuid>",
    "Klaviyo private key": "p|k_<hex 34>",
    "LangSmith API key": "ls|v2_pt_<hex 32>_<hex 10>",
    "Paystack secret key": "sk|_live_<hex 40>",
    "Replicate API token": "r|8_<alnum 37>",
    "Supabase personal token": "sb|p_<hex 40>",
    "Tailscale auth key": "ts|key-auth-<alnum 17>-<alnum 32>",
    "xAI API key": "xa|i-<alnum 80>",
    "Zapier webhook": "https://hooks|.zapier.com/hooks/catch/<digit 8>/<lower 7>",
}
# The vendors' own pages and samples; GitHub's secret scanning lists all of them as supported.
VENDORS = {
    "Google OAuth client secret": "GO|CSPX-<word 28>",
    "Google OAuth access token": "ya|29.a0<word 160>",
    "Google OAuth refresh token": "1/|/0<alnum 1><word 60>",
    "Mollie live key": "li|ve_<alnum 30>",
    "Resend API key": "r|e_<alnum 8>_<alnum 24>",
    "Stripe webhook secret": "wh|sec_<alnum 32>",
}
TEMPLATES = {**GITLEAKS, **DETECT_SECRETS, **TRUFFLEHOG, **VENDORS}

PAYLOADS = (
    lambda vendor, token: {"provider": vendor, "value": token, "retries": 3},
    lambda vendor, token: f"The {vendor} import failed again, they now want us to use {token} instead.",
    lambda vendor, token: {"job": "sync", "config": {"vendor": vendor, "options": [None, token, 30]}},
    lambda vendor, token: {"message": f"{vendor} answered 401 Unauthorized (sent {token})", "attempt": 2},
    lambda vendor, token: [17, {"integration": vendor.lower(), "setting": token}],
    lambda vendor, token: {"shell": f'{vendor.lower()}-cli sync --with "{token}" --verbose'},
    lambda vendor, token: f"# {vendor}\nregion: eu-central-1\nlogin: {token}\ntimeout: 30\n",
    lambda vendor, token: {"note": f"New one for {vendor}:\n{token}", "author_id": 4},
)


def _two_payloads_each():
    """Put a token of every format into two different payloads."""
    dice = Dice(20240229)
    for position, (name, template) in enumerate(TEMPLATES.items()):
        vendor = name.split()[0]
        for step in (0, 3):
            around = PAYLOADS[(position + step) % len(PAYLOADS)]
            yield name, around(vendor, dice.fill(template))


TOKENS = list(_two_payloads_each())
