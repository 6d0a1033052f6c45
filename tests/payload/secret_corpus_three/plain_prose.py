# A sample is easier to read on one line.
# ruff: noqa: E501
"""Texts for people: mail, pages, translations, names, addresses."""

from __future__ import annotations

from collections.abc import Iterator

from tests.payload.secret_corpus_three.draw import WORDS, Draw
from tests.payload.secret_corpus_three.kinds import Kinds, payloads_of

PEOPLE = [
    "Zoë Müller-Lüdenscheidt",
    "Łukasz Żółć",
    "Ngô Bảo Châu",
    "李小龙",
    "さくら 田中",
    "김민준",
    "Владимир Кузнецов",
    "محمد الفارسي",
    "Søren Ærø",
    "Chukwuemeka Okonkwo-Adébáyò",
]
STREETS = [
    "Straße des 17. Juni 135, 10623 Berlin",
    "221B Baker Street, London NW1 6XE",
    "〒100-0001 東京都千代田区千代田1-1",
    "Rua Augusta 1508, São Paulo - SP, 01304-001",
    "1600 Pennsylvania Ave NW, Washington, DC 20500",
    "Ул. Тверская, д. 7, Москва, 125009",
    "Passeig de Gràcia 92, 08008 Barcelona",
    "C/ Gran Vía, 28, 28013 Madrid",
    "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, Wales",
    "12 Rue de l'Église, 67000 Strasbourg",
]
COMPOUNDS = [
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz",
    "Kraftfahrzeughaftpflichtversicherung",
    "Grundstücksverkehrsgenehmigungszuständigkeitsübertragungsverordnung",
    "Lebensversicherungsgesellschaftsangestellter",
    "Siebenhundertsiebenundsiebzigtausendsiebenhundertsiebenundsiebzig",
    "Passwortänderungsbenachrichtigung",
    "Schlüsseldienstvermittlungsgebühr",
    "Tokenverbrauchsabrechnung",
    "Geheimhaltungsvereinbarungsentwurf",
]
LOREM = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat."
PASSWORD_TALK = [
    "You asked for a new password. If it was not you, ignore this mail.",
    "Your password was changed yesterday.",
    "Never tell anybody your password: we will not ask for it.",
    "Passwords must have at least twelve characters.",
    "Please log in with your user name and password.",
    "The token expired, please sign in again.",
    "We rotated the API keys of all staging systems.",
    "Secret: the party starts at eight.",
    "The key to success is patience.",
    "Your API key will be deleted after 90 days without use.",
]
TRANSLATED = [
    ("Forgot your password?", "Passwort vergessen?"),
    ("Access token", "Zugriffstoken"),
    ("Remember me", "Angemeldet bleiben"),
    ("Sign in", "Iniciar sesión"),
    ("Password", "Mot de passe"),
    ("Private key", "Clé privée"),
    ("Secret", "Секрет"),
    ("API key", "API-Schlüssel"),
    ("Enter the code", "コードを入力してください"),
    ("Your basket is empty", "Ваша корзина пуста"),
]
COMMENTS = [
    "Great lamp!!! 5/5 would buy again",
    "arrived broken :( want refund",
    "RE: RE: FW: Angebot Nr. 2024/0815-B",
    "👍👍👍",
    "lol asdfghjklqwertyuiop",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAARGH",
    "Is it 230V/50Hz? What is the IP44 rating?",
    "Supercalifragilisticexpialidocious!",
    "pass it on: sale ends Friday",
    "key takeaway: measure twice, cut once",
]
CHESS = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7"
RECIPE = "# Oat biscuits\n\n- 200 g oats\n- 100 g butter\n- 80 g sugar\n\n**Secret:** a pinch of salt.\n\n1. Mix.\n2. Bake 12 min at 180 °C.\n"


def _email(draw: Draw) -> str:
    return f"{draw.choice(WORDS)}.{draw.choice(WORDS)}{draw.randint(1, 99)}@{draw.choice(['example.com', 'example.co.uk', 'mail.example.org'])}"


def _mail(draw: Draw, talk: str) -> object:
    return {
        "to": _email(draw),
        "subject": "Your account",
        "body": f"Hello {draw.choice(WORDS).title()},\n\n{talk}\n\nBest regards,\nThe shop\n",
    }


KINDS: Kinds = {
    "email-addresses": lambda d, n: {"to": _email(d), "cc": [_email(d), f"{_email(d)[:-4]}.museum"], "template": "welcome"},
    "person-names": lambda d, n: {"customer": PEOPLE[n], "greeting": f"Hello {PEOPLE[n]}!"},
    "postal-address": lambda d, n: {"ship_to": STREETS[n], "parcels": d.randint(1, 4)},
    "german-compounds": lambda d, n: {"stichwort": COMPOUNDS[n], "seite": d.randint(1, 300)},
    "lorem-ipsum": lambda d, n: {"excerpt": LOREM[n * 7 :], "words": len(LOREM.split())},
    "mail-about-passwords": lambda d, n: _mail(d, PASSWORD_TALK[n]),
    "translation-pairs": lambda d, n: {"msgid": TRANSLATED[n][0], "msgstr": TRANSLATED[n][1], "fuzzy": False},
    "po-file-text": lambda d, n: {"po": f'msgid "{TRANSLATED[n][0]}"\nmsgstr "{TRANSLATED[n][1]}"\n'},
    "comments": lambda d, n: {"review": COMMENTS[n], "stars": d.randint(1, 5)},
    "html-page": lambda d, n: {"html": f"<!doctype html><html lang=en><title>{WORDS[n]}</title><form action=/login method=post><label>Password <input type=password name=password></label><button>Sign in</button></form>"},
    "html-mail": lambda d, n: {"html": f'<table width="600" style="color:#{d.chars("h", 6)}"><tr><td class="x-{d.chars("l", 6)}">Order {d.randint(1, 9999)} is on its way</td></tr></table>'},
    "markdown": lambda d, n: {"markdown": RECIPE.replace("12 min", f"{10 + n} min")},
    "markdown-docs": lambda d, n: {"markdown": f"## Authentication\n\nSend `Authorization: Bearer <token>` with each request.\nThe password is read from `$APP{n}_PASSWORD`.\n"},
    "chess-game": lambda d, n: {"pgn": CHESS[: 40 + n * 6], "fen": "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"},
    "music-and-knitting": lambda d, n: {"abc": "X:1\nT:Speed the Plough\nM:4/4\nK:G\n|:GABc dedB|dedB dedB|c2ec B2dB|", "row": f"k{n + 2}, p2, *yo, k2tog; rep from *"},
    "subtitles": lambda d, n: {"srt": f"{n + 1}\n00:0{n}:01,500 --> 00:0{n}:04,000\n- What's the password?\n- Swordfish, like always.\n"},
    "words-with-digits": lambda d, n: {"tags": [f"{w}{d.randint(1, 9)}" for w in d.sample(WORDS, 5)], "locale": "en-GB"},
    "hashtags-and-handles": lambda d, n: {"post": f"New in: the {WORDS[n]} lamp #interior #{WORDS[n + 3]}design2024 via @{WORDS[n + 5]}_{WORDS[n + 6]}"},
    "legal-text": lambda d, n: {"clause": f"§ {n + 3} Abs. 2 Satz 1 Nr. {n} DSGVO i.V.m. Art. 6 Abs. 1 lit. f — Der Schlüssel bleibt Eigentum des Vermieters."},
    "math-and-latex": lambda d, n: {"latex": r"\int_{-\infty}^{\infty} e^{-x^2}\,dx = \sqrt{\pi} \qquad \sum_{k=0}^{n} \binom{n}{k} = 2^n", "page": n},
}  # fmt: skip


def payloads() -> Iterator[tuple[str, object]]:
    """Ten payloads of each kind."""
    return payloads_of(KINDS)
