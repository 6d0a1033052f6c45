"""A token of each shape that `published_tokens` knows and `secret_corpus` has not: none was ever valid.

Written as templates, so that no scanner of a forge takes this file for a leak: a bar cuts each prefix in two, and
`<alnum 20>` is drawn.
"""

import re
import string

from tests.payload.dice import ALNUM, BASE64, DICE, HEX, LOWER, UPPER, URLSAFE, an_id, some

_ALPHABETS = {
    "hex": HEX, "HEX": HEX.upper(), "upper": UPPER, "lower": LOWER, "alnum": ALNUM, "word": URLSAFE, "b64": BASE64,
    "digit": string.digits, "58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "bech32": "023456789acdefghjklmnpqrstuvwxyz",
}  # fmt: skip

TEMPLATES = {
    "AWS Bedrock key": "bedrock-api|-key-<b64 60>",
    "Aikido token": "AIK_|CI_<alnum 24>",
    "Aiven token": "AV|NS_<alnum 19>",
    "Alibaba access key": "ST|S.9<alnum 24>",
    "Amazon OAuth token": "At|za|<b64 80>",
    "Amazon OAuth secret": "amzn1.|oa2-cs.v1.<hex 64>",
    "Artifactory token": "cm|Vmd<alnum 59>",
    "Apify token": "apify|_api_<alnum 36>",
    "Astra token": "Astra|CS:<alnum 24>:<hex 64>",
    "Authress key": "sc|_<lower 20>.<lower 5>.acc_<lower 20>.<word 60>",
    "Axiom token": "xa|at-<uuid>",
    "Azure key": "<alnum 76>AZ|DO<alnum 4>",
    "Baidu key": "bce-v3|/ALTAK-<alnum 21>/<hex 40>",
    "Bitbucket token": "BB|DC-<b64 44>",
    "Brave key": "BS|A9<alnum 27>",
    "Buildkite token": "bk|ct_<alnum 40>",
    "Canva secret": "cn|vca<word 51>",
    "Cerebras key": "cs|k-<lower 48>",
    "ClickHouse key": "4b|1d<alnum 38>",
    "ClickUp token": "pk|_12345678_<upper 32>",
    "Cloudflare token": "cf|ut_<alnum 48>",
    "CockroachDB key": "CC|DB1_<alnum 22>_<alnum 40>",
    "ConfigCat key": "config|cat-sdk-1/<word 22>/<word 22>",
    "Cursor key": "cr|sr_<hex 64>",
    "Databricks token": "do|se<hex 32>",
    "Defined Networking key": "dn|key-<upper 26>-<upper 52>",
    "Deno token": "dd|p_<alnum 36>",
    "E2B key": "e2|b_<hex 40>",
    "eBay key": "PR|D-<hex 12>-<hex 4>-<hex 4>-<hex 4>-<hex 4>",
    "Elastic key": "es|su_<word 80>",
    "Endor Labs key": "en|dr+<alnum 16>",
    "Exoscale key": "EX|O9<alnum 26>",
    "Firecrawl key": "f|c-<hex 32>",
    "GitLab session": "_gitlab|_session=<hex 32>",
    "Google HMAC key": "GO|OG1E<upper 55>",
    "Google authorization code": "4/|0A<word 60>",
    "Grafana token": "eyJr|Ijoi<alnum 80>",
    "Honeycomb key": "hc|aik_<lower 58>",
    "Instagram token": "IG|QV<word 120>",
    "Intra42 secret": "s-s4t|2ud-<hex 64>",
    "JSON Web Token in base64": "ZX|lKaGJHY2lPaUo<b64 90>",
    "Langfuse key": "sk|-lf-<uuid>",
    "Lark webhook": "https://open.feishu.cn/open|-apis/bot/v2/hook/<uuid>",
    "LinkedIn token": "WPL|_AP1.<alnum 20>",
    "MailerSend token": "ml|sn.<hex 64>",
    "MaxMind key": "<alnum 6>_<alnum 29>_m|mk",
    "Mercado Pago token": "APP|_USR-1234567890123456-123456-<hex 32>-12345678",
    "MongoDB service account secret": "mdb|_sa_sk_<word 40>",
    "New Relic key": "<hex 36>NR|AL",
    "Nightfall key": "N|F-<alnum 32>",
    "NPM token": "np|ms_<alnum 36>",
    "PagerDuty key": "pd|us+_<word 30>",
    "PostHog key": "ph|x_<alnum 43>",
    "PubNub secret key": "sec|-c-<b64 48>",
    "QuickNode key": "Q|N_<hex 32>",
    "Samsara token": "samsara|_api_<alnum 30>",
    "Settlemint token": "sm|_pat_<alnum 16>",
    "Snyk token": "snyk|_uat.<hex 8>.<word 60>",
    "StackHawk key": "ha|wk.<word 20>.<alnum 20>",
    "Stripe client secret": "pi_<alnum 24>_sec|ret_<alnum 25>",
    "Tableau token": "<b64 22>=|=:<alnum 32>",
    "TeamCity token": "eyJ0eX|AiOiAiVENWMiJ9.<word 40>",
    "Telnyx key": "KE|Y01<HEX 32>_<alnum 22>",
    "Tencent secret id": "AK|ID<alnum 32>",
    "Terraform agent token": "atlas|v1-<word 40>",
    "Together key": "tg|p_v1_<word 43>",
    "Trello token": "AT|TA<hex 64>",
    "Twitch token": "oau|th:<lower 30>",
    "UpCloud token": "uc|at_<alnum 26>",
    "Vercel token": "vc|p_<alnum 56>",
    "Volcengine key": "AK|LT<alnum 44>",
    "WakaTime key": "wa|ka_<uuid>",
    "WeCom webhook": "https://qyapi.weixin.qq.com/cgi-bin/web|hook/send?key=<uuid>",
    "Weights & Biases key": "wandb|_v1_<alnum 77>",
    "Yandex token": "t|1.<word 60>.<word 86>",
    "Yandex key": "AQ|VN<alnum 36>",
    "Zuplo key": "zp|ka_<alnum 60>",
    "Akamai token": "ak|ab-<lower 16>-<lower 16>",
    "AWS session token": "Fwo|GZXIvYXdzE<b64 280>",
    "Backblaze key": "K0|0<b64 28>",
    "crates.io token": "ci|o<alnum 32>",
    "Fireworks key": "f|w_<alnum 24>",
    "Kaggle token": "KG|AT_<hex 32>",
    "minisign secret key": "RWR|TY0Iy<b64 200>",
    "Salesforce session": "00|D<alnum 15>!<alnum 90>",
    "secret token": "secret|-token:<word 20>",
    "WooCommerce key": "c|k_<hex 40>",
    "PASETO": "v4|.local.<word 120>",
    "PASERK": "k4|.secret.<word 86>",
    "Biscuit or macaroon": "AgE|L<word 90>",
    "Django secret key": "django|-insecure-<lower 50>",
    "application key": "base|64:<b64 43>=",
    "Nostr private key": "ns|ec1<bech32 58>",
    "extended private key": "xp|rv<58 107>",
    # Without a literal.
    "Bitwarden token": "0|.<uuid>.<alnum 30>:<b64 22>==",
    "Ghost key": "<hex 24>|:<hex 64>",
    "Mailgun signing key": "<hex 32>|-<hex 8>-<hex 8>",
    "Meta app token": "|123456789012345|<alnum 27>",
    "token of numbers": "2/|9511282166816584/4271461947683181:<hex 32>",
    "secret part of a URL": "https://maker.ifttt.com/trigger/sold/with/k|ey/<alnum 43>",
    "token in a URL": "https://<alnum 40>|@git.example.com/shop.git",
}


def sample_of(name: str) -> str:
    """Draw the same token for a name whichever tests run."""
    DICE.seed(name)
    # The first bar alone: there are prefixes that end in one.
    template = TEMPLATES[name].replace("|", "", 1).replace("<uuid>", an_id())
    return re.sub(r"<(\w+) (\d+)>", lambda drawn: some(_ALPHABETS[drawn[1]], int(drawn[2])), template)
