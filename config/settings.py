"""Settings of every installation, from the environment; the README has the table."""

import os
from pathlib import Path
from typing import Any

import dj_database_url

from config.environment import flag, home_directory, listed, secret_key

BASE_DIR = Path(__file__).resolve().parent.parent
TANDEM_HOME = home_directory(BASE_DIR)
SECRET_KEY = secret_key(TANDEM_HOME)
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
    "django_tasks",
    "django_tasks_db",
    "annotation",
    "analysis",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "annotation.security.ContentSecurityPolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "annotation.page_messages.PageMessages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# Durable commits: an acknowledged answer survives kill -9 and power loss.
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
        "PRAGMA temp_store=MEMORY; PRAGMA mmap_size=268435456; PRAGMA cache_size=-16000;"
    ),
}


def database() -> dict[str, Any]:
    """Return the database of DATABASE_URL, or SQLite in the data directory."""
    url = os.environ.get("DATABASE_URL") or f"sqlite:///{TANDEM_HOME / 'tandem.sqlite3'}"
    config: dict[str, Any] = dict(
        dj_database_url.parse(url, conn_max_age=600, conn_health_checks=True)
    )
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["OPTIONS"] = SQLITE_OPTIONS
        config["TEST"] = {"NAME": TANDEM_HOME / "test.sqlite3"}  # a file: server threads share it
        config["CONN_HEALTH_CHECKS"] = False
    return config


DATABASES = {"default": database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default"]}}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "projects"
LOGOUT_REDIRECT_URL = "sign-in"

AUTHENTICATION_BACKENDS = ["annotation.sessions.AccountBackend"]
SESSION_ENGINE = "annotation.sessions"
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
TIME_ZONE = os.environ.get("TANDEM_TIME_ZONE", "UTC")
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = TANDEM_HOME / "static"
# From source: no collectstatic needed, for tests and for work on the pages.
WHITENOISE_USE_FINDERS = flag("TANDEM_STATIC_FROM_SOURCE")
STATIC_STORAGE = (
    "django.contrib.staticfiles.storage.StaticFilesStorage"
    if WHITENOISE_USE_FINDERS
    else "annotation.static_storage.StaticStorage"
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": STATIC_STORAGE},
}
# Hugging Face names or directories that rounds may use besides the bundled encoder.
ENCODERS = listed("TANDEM_ENCODERS", "")
MAX_UPLOAD_MB = int(os.environ.get("TANDEM_MAX_UPLOAD_MB", "512"))
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
FILE_UPLOAD_TEMP_DIR = None

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.api.authentication.TokenAuthentication",
        "annotation.api.authentication.Session",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["annotation.api.authentication.SignedInWithinScope"],
    "DEFAULT_PARSER_CLASSES": ["annotation.api.json.JsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["annotation.api.json.JsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "annotation.api.json.AlwaysFirst",
    "EXCEPTION_HANDLER": "annotation.api.errors.handle_exception",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Tandem",
    "DESCRIPTION": "Annotation of several tasks at once, with multi-task active learning.",
    "VERSION": "1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "PATH_CONVERTER_OVERRIDES": {"key": int},
    "SERVE_AUTHENTICATION": [],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": os.environ.get("TANDEM_LOG_LEVEL", "INFO")},
}
