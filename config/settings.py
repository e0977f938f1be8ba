"""Settings of every installation, from the environment; the README has the table."""

import os
from typing import Any

import dj_database_url

from config.environment import (
    device,
    flag,
    keep_private,
    listed,
    mail,
    networks,
    secret_key,
    single_sign_on,
)
from config.home import home
from config.store import store_url

HOME = home()
HOME.root.mkdir(parents=True, exist_ok=True, mode=0o700)  # for its owner alone
keep_private(HOME.root)
SECRET_KEY = secret_key(HOME.secret_key)
DEBUG = False
ALLOWED_HOSTS = listed("TANDEM_HOSTS", "localhost,127.0.0.1,[::1]")
IS_HTTPS = flag("TANDEM_HTTPS")
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS if IS_HTTPS]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "annotation",
    "analysis",
]

MIDDLEWARE = [
    "annotation.jobs.health.TimedRequests",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "annotation.web.security.ContentSecurityPolicy",
    "annotation.web.security.RateLimits",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "annotation.web.security.BodyLimits",
    "annotation.web.frame.PageMessages",
    "annotation.web.languages.Languages",
    "annotation.web.errors.RefusalPages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "OPTIONS": {
            "builtins": [
                *("django.templatetags.i18n", "annotation.web.code_texts"),
                "annotation.templatetags.humanise",  # numbers and days as the language writes them
            ],
            "loaders": [
                ("django.template.loaders.cached.Loader", ["annotation.web.languages.Loader"])
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# Durable commits: an acknowledged answer survives kill -9 and power loss. As much of the file is
# mapped as SQLite can: pages behind the mapped part, and those that are written, are copied into
# the memory of every thread's connection, which keeps them up to the size of its cache.
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
        "PRAGMA temp_store=MEMORY; PRAGMA mmap_size=2147418112; PRAGMA cache_size=-4000;"
        "PRAGMA secure_delete=ON;"  # what is deleted is overwritten
    ),
}


def database() -> dict[str, Any]:
    """Return the database of DATABASE_URL, or SQLite in the data directory."""
    url = os.environ.get("DATABASE_URL") or f"sqlite:///{HOME.database}"
    config: dict[str, Any] = dict(
        dj_database_url.parse(url, conn_max_age=600, conn_health_checks=True)
    )
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["OPTIONS"] = SQLITE_OPTIONS
        config["TEST"] = {"NAME": HOME.test_database}  # a file: server threads share it
        config["CONN_HEALTH_CHECKS"] = False
    return config


DATABASES = {"default": database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
SINGLE_SIGN_ON = single_sign_on()  # off unless an issuer is named
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "projects"
LOGOUT_REDIRECT_URL = "sign-in"

SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = IS_HTTPS
SESSION_COOKIE_AGE = 14 * 24 * 3600
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = IS_HTTPS
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31536000 if IS_HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if IS_HTTPS else None
X_FRAME_OPTIONS = "DENY"

LANGUAGE_CODE = "en"
FORM_RENDERER = "annotation.web.code_texts.Choices"
LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("fr", "Français"),
    ("es", "Español"),
    ("ar", "العربية"),
    ("zh-hans", "简体中文"),
]
FORMAT_MODULE_PATH = "annotation.locale"  # how numbers are written where Django knows less
TIME_ZONE = os.environ.get("TANDEM_TIME_ZONE", "UTC")
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = HOME.static
# From source: no collectstatic needed, for tests and for work on the pages.
WHITENOISE_USE_FINDERS = flag("TANDEM_STATIC_FROM_SOURCE")
STATIC_STORAGE = (
    "django.contrib.staticfiles.storage.StaticFilesStorage"
    if WHITENOISE_USE_FINDERS
    else "annotation.web.static_storage.StaticStorage"
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": STATIC_STORAGE},
}
# Hugging Face names or directories that rounds may use besides the bundled encoder.
ENCODERS = listed("TANDEM_ENCODERS", "")
DEVICE = device("TANDEM_DEVICE")
store_url()  # an address that cannot be read is refused now, not by the first round
# A Ray cluster that scores, predicts and trains controls; empty: the worker does so itself.
RAY_ADDRESS = os.environ.get("TANDEM_RAY_ADDRESS", "").strip()
# Where questions to models are answered, if not by the predictor of this data directory.
PREDICTOR = os.environ.get("TANDEM_PREDICTOR", "")
# Chat endpoints and directories of models that may be asked for suggestions; none unless listed.
SUGGESTION_SOURCES = listed("TANDEM_SUGGESTION_SOURCES", "")
# Where people reach this server, for links in mails and calls: https://tandem.example.org.
ADDRESS = os.environ.get("TANDEM_ADDRESS", "").strip().rstrip("/")
MAIL = mail()  # off unless an SMTP server is named
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
EMAIL_USE_SSL, EMAIL_USE_TLS = MAIL.is_tls, MAIL.is_starttls
EMAIL_TIMEOUT = 20
# Hosts that webhooks of projects may call, a private one with its network; none unless listed.
WEBHOOK_HOSTS = listed("TANDEM_WEBHOOK_HOSTS", "")
# No outbound call unless somebody asks for it; encoders that were fetched lie with our data.
os.environ.setdefault("HF_HUB_OFFLINE", "0" if flag("TANDEM_DOWNLOADS") else "1")
os.environ.setdefault("HF_HOME", str(HOME.encoders))
MAX_UPLOAD_MB = int(os.environ.get("TANDEM_MAX_UPLOAD_MB", "512"))
RATE_LIMIT = int(os.environ.get("TANDEM_RATE_LIMIT", "200"))  # requests per second and person
# Whose X-Forwarded-For is believed: addresses or networks of the proxies in front.
TRUSTED_PROXIES = networks("TANDEM_TRUSTED_PROXIES", "127.0.0.1,::1")
JOB_HOURS = float(os.environ.get("TANDEM_JOB_HOURS", "24"))
WORKER_MEMORY_MB = int(os.environ.get("TANDEM_WORKER_MEMORY_MB", "0"))
IMPORT_MEMORY_MB = int(os.environ.get("TANDEM_IMPORT_MEMORY_MB", "1024"))
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000  # three for each label of a task
FILE_UPLOAD_TEMP_DIR = None

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.accounts.authentication.TokenAuthentication",
        "annotation.accounts.authentication.Session",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["annotation.accounts.authentication.SignedInWithinScope"],
    "DEFAULT_PARSER_CLASSES": ["annotation.web.rest.JsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["annotation.web.rest.JsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "annotation.web.rest.AlwaysFirst",
    "EXCEPTION_HANDLER": "annotation.web.errors.handle_exception",
    "DEFAULT_SCHEMA_CLASS": "annotation.web.serializers.ApiSchema",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Tandem",
    "DESCRIPTION": "Annotation of several tasks at once, with multi-task active learning.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "PATH_CONVERTER_OVERRIDES": {"key": int},
    "ENUM_NAME_OVERRIDES": {
        "JobState": "annotation.models.Job.State",
        "ProjectState": "annotation.models.Project.State",
        "RoundState": "annotation.models.Round.State",
    },
    "SERVE_AUTHENTICATION": [],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "filters": {"secrets": {"()": "annotation.web.security.HideSecrets"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["secrets"],
        }
    },
    "root": {"handlers": ["console"], "level": os.environ.get("TANDEM_LOG_LEVEL", "INFO")},
}
