# A sample is easier to read on one line.
# ruff: noqa: E501
"""Connection URLs and strings of databases, brokers, mail and file servers, with a password in them.

After each product's documentation of its connection string: libpq, SQLAlchemy, JDBC, ADO.NET, ODBC, MongoDB, Redis,
AMQP, Azure (Storage, Service Bus, Event Hubs, Cosmos DB, IoT Hub; detect-secrets AzureStorageKeyDetector, Nosey Parker
azure, odbc, postgres, mongo).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from tests.payload.secret_corpus_three.draw import Draw


def _password(draw: Draw) -> str:
    return draw.fill(draw.choice(["[a16]", "[a24]", "[L6]-[d4]-[L4]", "[C1][c6][d2]_[c5]", "[w32]"]))


SIMPLE = {
    "postgres": "postgres://app:SECRET@db.example.com:5432/shop",
    "postgresql-ssl": "postgresql://app:SECRET@db.example.com/shop?sslmode=require",
    "sqlalchemy-psycopg": "postgresql+psycopg://app:SECRET@10.0.3.7:6432/shop",
    "cockroachdb": "postgresql://maria:SECRET@free-tier.gcp-europe-west1.cockroachlabs.cloud:26257/defaultdb",
    "mysql": "mysql://root:SECRET@mysql.internal:3306/wordpress",
    "mysql-pymysql": "mysql+pymysql://app:SECRET@127.0.0.1/crm?charset=utf8mb4",
    "mariadb": "mariadb://app:SECRET@maria.example.com/erp",
    "mssql-pyodbc": "mssql+pyodbc://sa:SECRET@sql01/Sales?driver=ODBC+Driver+18+for+SQL+Server",
    "oracle": "oracle+oracledb://hr:SECRET@ora.example.com:1521/?service_name=XEPDB1",
    "mongodb": "mongodb://app:SECRET@mongo1.example.com:27017/shop?authSource=admin",
    "mongodb-srv": "mongodb+srv://app:SECRET@cluster0.ab1cd.mongodb.net/?retryWrites=true&w=majority",
    "redis": "redis://:SECRET@cache.example.com:6379/0",
    "rediss": "rediss://default:SECRET@eu1-swift-cat-31337.upstash.io:6379",
    "amqp": "amqp://worker:SECRET@rabbit.example.com:5672/%2F",
    "amqps": "amqps://abcdefgh:SECRET@goose.rmq2.cloudamqp.com/abcdefgh",
    "clickhouse": "clickhouse://default:SECRET@ch.example.com:9440/logs?secure=1",
    "elasticsearch": "https://elastic:SECRET@es.example.com:9243",
    "couchdb": "http://admin:SECRET@couch.example.com:5984/orders",
    "neo4j": "neo4j+s://neo4j:SECRET@12ab34cd.databases.neo4j.io",
    "snowflake": "snowflake://LOADER:SECRET@ab12345.eu-central-1/ANALYTICS/PUBLIC?warehouse=WH",
    "ldap": "ldaps://cn=svc:SECRET@ldap.example.com:636/dc=example,dc=com",
    "smtp": "smtp://mailer%40example.com:SECRET@smtp.example.com:587",
    "sftp": "sftp://partner:SECRET@files.example.com/in/",
    "ftp": "ftp://upload:SECRET@ftp.example.com/export.csv",
    "nats": "nats://orders:SECRET@nats.example.com:4222",
    "mqtt": "mqtts://sensor:SECRET@mqtt.example.com:8883",
    "rtsp": "rtsp://admin:SECRET@192.168.1.64:554/Streaming/Channels/101",
    "jdbc-query": "jdbc:postgresql://db.example.com:5432/shop?user=app&password=SECRET",
    "jdbc-sqlserver": "jdbc:sqlserver://sql01:1433;databaseName=Sales;user=sa;password=SECRET;encrypt=true",
    "libpq-keywords": "host=db.example.com port=5432 dbname=shop user=app password=SECRET sslmode=require",
    "ado-net": "Server=tcp:acme.database.windows.net,1433;Initial Catalog=shop;User ID=app;Password=SECRET;Encrypt=True;",
    "ado-net-pwd": "Data Source=sql01;Initial Catalog=crm;Uid=app;Pwd=SECRET;",
    "odbc": "DRIVER={ODBC Driver 18 for SQL Server};SERVER=sql01;DATABASE=crm;UID=app;PWD=SECRET",
    "mysql-ado": "server=mysql01;user=app;database=shop;port=3306;password=SECRET",
    "rabbitmq-easynetq": "host=rabbit01;virtualHost=/;username=worker;password=SECRET",
}
# Azure: the account key is 64 bytes in base 64, the SAS key 32.
AZURE = {
    "azure-storage": (
        "DefaultEndpointsProtocol=https;AccountName=acmeprod;AccountKey=SECRET;EndpointSuffix=core.windows.net",
        64,
    ),
    "azure-service-bus": (
        "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=worker;SharedAccessKey=SECRET",
        32,
    ),
    "azure-event-hubs": (
        "Endpoint=sb://acme-eh.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=SECRET;EntityPath=orders",
        32,
    ),
    "azure-cosmos": ("AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=SECRET;", 64),
    "azure-iot-hub": ("HostName=acme.azure-devices.net;DeviceId=press-7;SharedAccessKey=SECRET", 32),
    "azure-app-configuration": ("Endpoint=https://acme.azconfig.io;Id=[a4]-l0-s0:[b20];Secret=SECRET", 32),
}


def _placed(draw: Draw, dsn: str) -> object:
    options: list[Callable[[], object]] = [
        lambda: {"source": dsn, "table": "orders"},
        lambda: {"export": {"target": dsn, "batch": 500}},
        lambda: {"message": f"Use {dsn} for the import, it is the replica."},
        lambda: {"args": ["copy", dsn, "--dry-run"]},
        lambda: {"body": json.dumps({"from": dsn, "rows": 20})},
        lambda: {"settings": f"DEBUG=0\nSOURCE='{dsn}'\nLANG=C\n"},
        lambda: {"error": f"OperationalError: could not connect to {dsn}: timeout expired"},
    ]
    return draw.choice(options)()


def secrets() -> Iterator[tuple[str, object, str]]:
    """Two payloads for each kind of connection string."""
    for name, template in SIMPLE.items():
        title = f"url/dsn-{name}"
        draw = Draw(title)
        for _ in range(2):
            password = _password(draw)
            yield title, _placed(draw, template.replace("SECRET", password)), password
    for name, (template, size) in AZURE.items():
        title = f"url/connection-{name}"
        draw = Draw(title)
        for _ in range(2):
            key = draw.base64(size)
            yield title, _placed(draw, draw.fill(template).replace("SECRET", key)), key
