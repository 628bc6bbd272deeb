"""Every setting of Commonplace, read from the environment by typed readers.

Values come from the environment only; a secret NAME may come from the file named by NAME_FILE instead.
A value that cannot be read stops the start with one sentence that names the variable.
"""

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import dj_database_url
from celery.schedules import crontab
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config.env import env_bool, env_choice, env_int, env_list, env_str
from embedded.servers import addresses
from grants.scopes import GRANT_SCOPES

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"


# Where we run
ENVIRONMENT = env_choice("OMP_ENV", "development", ("development", "production"))
PRODUCTION = ENVIRONMENT == "production"
DEBUG = False
DATA_DIR = Path(env_str("OMP_DATA_DIR", str(BASE_DIR / ".data"))).resolve()
PORT = env_int("PORT", 8000, minimum=1)
PUBLIC_URL = env_str("OMP_PUBLIC_URL", f"http://localhost:{PORT}").rstrip("/")
ALLOWED_HOSTS = env_list("OMP_ALLOWED_HOSTS", (urlsplit(PUBLIC_URL).hostname or "") if PRODUCTION else "*")
PUBLIC_URL_GIVEN = bool(env_str("OMP_PUBLIC_URL"))
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL.startswith("https://") else []


def secret_key() -> str:
    """Return SECRET_KEY; outside production a random one kept in the data folder stands in for it."""
    value = env_str("SECRET_KEY")
    if value:
        return value
    if PRODUCTION:
        raise ImproperlyConfigured("SECRET_KEY must be set when OMP_ENV is production.")
    path = DATA_DIR / "secret_key"
    try:
        DATA_DIR.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as handle:
            handle.write(secrets.token_urlsafe(48))
    except FileExistsError:
        pass
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {DATA_DIR} cannot be written ({error.strerror}); set OMP_DATA_DIR to one that can."
        ) from None
    return path.read_text(encoding="ascii")


SECRET_KEY = secret_key()

# PostgreSQL and Redis or Valkey. Unset, outside production, the embedded servers of the data folder.
EMBEDDED = addresses(DATA_DIR)
DATABASE_URL = env_str("DATABASE_URL")
REDIS_URL = env_str("REDIS_URL")
if PRODUCTION and not (DATABASE_URL and REDIS_URL):
    raise ImproperlyConfigured("DATABASE_URL and REDIS_URL must be set when OMP_ENV is production.")
DATABASE_APP_ROLE = "commonplace_app"
DATABASE_OWNER_URL = env_str("DATABASE_OWNER_URL") or DATABASE_URL or EMBEDDED.database_owner_url
SINGLE_LOGIN = bool(DATABASE_URL) and DATABASE_OWNER_URL == DATABASE_URL
DATABASE_URL = DATABASE_URL or EMBEDDED.database_url
REDIS_URL = REDIS_URL or EMBEDDED.redis_url


def database(url: str) -> dict[str, object]:
    """Return Django's settings for the database at a postgresql:// address."""
    config = dict(dj_database_url.parse(url))
    if config["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL must be a postgresql:// address.")
    config.setdefault("OPTIONS", {})
    return config


DATABASES: dict[str, dict[str, object]] = {"default": database(DATABASE_URL), "owner": database(DATABASE_OWNER_URL)}
# Each thread of a web process keeps its connection: as bounded as a pool, and cheaper (docs/adr/0003).
DATABASES["default"]["CONN_MAX_AGE"] = None
# Statements are prepared once for each connection, which halves their processor time; a pooler in transaction
# mode that does not follow prepared statements (pgbouncer before 1.21) needs OMP_DATABASE_PREPARE=off.
DATABASES["default"]["OPTIONS"] |= {  # type: ignore[operator]
    "connect_timeout": 3,
    "server_side_binding": True,
    "prepare_threshold": 5 if env_bool("OMP_DATABASE_PREPARE", True) else None,
}
if SINGLE_LOGIN:
    # One login was given for both: it steps down to the role that row-level security binds.
    DATABASES["default"]["OPTIONS"] |= {"options": f"-c role={DATABASE_APP_ROLE}"}  # type: ignore[operator]
DATABASE_ROUTERS = ["config.routers.OwnerMigrates"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {
        "BACKEND": "config.cache.SteadyCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
    }
}

# Sign-in by other services: OMP_SOCIAL_SIGN_IN=google,github with OMP_SOCIAL_GOOGLE_ID and _SECRET for each.
SOCIAL_SIGN_IN = env_list("OMP_SOCIAL_SIGN_IN")
INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "config.adminapp.OperatorConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    *[f"allauth.socialaccount.providers.{name}" for name in SOCIAL_SIGN_IN],
    "django_htmx",
    "corsheaders",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "oauth2_provider",
    "config",
    "accounts",
    "apikeys",
    "api",
    "events",
    "memories",
    "aiworker",
    "notebook",
    "grants",
    "mcpserver",
    "conversations",
    "actions",
    "dreams",
    "context",
]
MIDDLEWARE = [
    "api.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "api.middleware.ApiMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.pageviews.shell",
            ]
        },
    }
]

# People
AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/home"
LOGOUT_REDIRECT_URL = ACCOUNT_LOGOUT_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
ACCOUNT_SESSION_REMEMBER = True
SIGN_IN_FORMS = "accounts.signinforms"
ACCOUNT_FORMS = {
    name: f"{SIGN_IN_FORMS}.{form}"
    for name, form in {
        "signup": "SignupForm", "login": "LoginForm", "reset_password": "ResetPasswordForm",
        "reset_password_from_key": "ResetPasswordKeyForm", "change_password": "ChangePasswordForm",
        "set_password": "SetPasswordForm", "reauthenticate": "ReauthenticateForm",
        "confirm_reauthentication_code": "ConfirmCodeForm",
    }.items()
}  # fmt: skip
MFA_FORMS = {
    "authenticate": f"{SIGN_IN_FORMS}.AuthenticateForm", "reauthenticate": f"{SIGN_IN_FORMS}.SecondStepForm",
    "activate_totp": f"{SIGN_IN_FORMS}.ActivateAppForm", "add_webauthn": f"{SIGN_IN_FORMS}.AddPasskeyForm",
    "edit_webauthn": f"{SIGN_IN_FORMS}.EditPasskeyForm",
}  # fmt: skip
SOCIALACCOUNT_FORMS = {"signup": f"{SIGN_IN_FORMS}.SocialSignupForm"}
ACCOUNT_EMAIL_NOTIFICATIONS = True  # a changed password, address or second step is told by e-mail
USERSESSIONS_TRACK_ACTIVITY = False
SIGN_UP_OPEN = env_bool("OMP_SIGN_UP", True)
MFA_ADAPTER = "accounts.adapter.SecondStepAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Commonplace"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not PRODUCTION  # localhost has no certificate
SOCIALACCOUNT_ADAPTER = "accounts.adapter.SocialAdapter"
SOCIALACCOUNT_PROVIDERS = {
    name: {
        "APPS": [
            {
                "client_id": env_str(f"OMP_SOCIAL_{name.upper()}_ID"),
                "secret": env_str(f"OMP_SOCIAL_{name.upper()}_SECRET"),
            }
        ]
    }
    for name in SOCIAL_SIGN_IN
}
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PUBLIC_URL.startswith("https://")
SECURE_SSL_REDIRECT = PRODUCTION and env_bool("OMP_SSL_REDIRECT", True)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env_bool("OMP_TRUST_FORWARDED_PROTO", False) else None
TRUSTED_PROXIES = ALLAUTH_TRUSTED_PROXY_COUNT = env_int("OMP_TRUSTED_PROXIES", 0)
# E-mail: printed in the terminal outside production unless a server is named.
EMAIL_HOST = env_str("OMP_EMAIL_HOST")
EMAIL_PORT = env_int("OMP_EMAIL_PORT", 587, minimum=1)
EMAIL_HOST_USER = env_str("OMP_EMAIL_USER")
EMAIL_HOST_PASSWORD = env_str("OMP_EMAIL_PASSWORD")
EMAIL_USE_TLS = env_bool("OMP_EMAIL_TLS", True)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env_str("OMP_EMAIL_FROM", "Commonplace <commonplace@localhost>")
EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend" if EMAIL_HOST or PRODUCTION else "config.mail.TerminalBackend"
)
SECURE_REDIRECT_EXEMPT = [r"^(livez|readyz|v1/health)$"]  # orchestrators ask without TLS
SECURE_HSTS_SECONDS = env_int("OMP_HSTS_SECONDS", 31_536_000 if PRODUCTION else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / ".static"
with suppress(OSError):
    STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns of a folder that is not there
STATICFILES_DIRS = [path for path in [BASE_DIR / "static"] if path.is_dir()]
UNFOLD = {
    "SITE_TITLE": "Commonplace, admin console",
    "SITE_HEADER": "Commonplace",
    "SITE_SUBHEADER": "Admin console",
    "SITE_URL": "/home",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": f"{STATIC_URL}mark.svg"}],
    "STYLES": [lambda request: f"{STATIC_URL}console.css"],
    "SITE_ICON": lambda request: f"{STATIC_URL}mark.svg",
    "COLORS": {
        "primary": {
            "50": "#f1f5fa",
            "100": "#e2eaf3",
            "200": "#c3d4e6",
            "300": "#94bfea",
            "400": "#6f9cc9",
            "500": "#3f76ae",
            "600": "#1d4a7a",
            "700": "#1a426d",
            "800": "#16385c",
            "900": "#122c49",
            "950": "#0c1e32",
        }
    },
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "DASHBOARD_CALLBACK": "config.adminsite.dashboard",
    "SIDEBAR": {"navigation": "config.adminsite.navigation"},
}
WHITENOISE_USE_FINDERS = not PRODUCTION

# The API
OMP_API_KEY = env_str("OMP_API_KEY")
if OMP_API_KEY and len(OMP_API_KEY) < 32:
    raise ImproperlyConfigured("OMP_API_KEY must have at least 32 characters (OMP 0.1, section 7).")
OMP_OWNER_EMAIL = env_str("OMP_OWNER_EMAIL")
OMP_OWNER_PASSWORD = env_str("OMP_OWNER_PASSWORD")
RATE_LIMIT_ON = env_choice("OMP_RATE_LIMIT", "on", ("on", "off")) == "on"
RATE_LIMIT_PER_MINUTE = env_int("OMP_RATE_LIMIT_PER_MINUTE", 1_200, minimum=1)
RATE_LIMIT_BURST = env_int("OMP_RATE_LIMIT_BURST", 300, minimum=1)
QUOTAS_ON = env_choice("OMP_QUOTAS", "on", ("on", "off")) == "on"
QUOTA_MEMORIES = env_int("OMP_QUOTA_MEMORIES", 1_000_000, minimum=1)
QUOTA_REQUESTS_PER_MINUTE = env_int("OMP_QUOTA_REQUESTS_PER_MINUTE", 6_000, minimum=1)
MAX_BODY_BYTES = env_int("OMP_MAX_BODY_BYTES", 1024 * 1024, minimum=1024)
MAX_BATCH_BYTES = env_int("OMP_MAX_BATCH_BYTES", 64 * 1024 * 1024, minimum=1024)
MAX_IMPORT_BYTES = env_int("OMP_MAX_IMPORT_BYTES", 256 * 1024 * 1024, minimum=1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = None  # api.body enforces a limit for each endpoint
EXPIRED_KEPT_DAYS = 7
IDEMPOTENCY_HOURS = 24
REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "api.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Commonplace",
    "DESCRIPTION": "The memory that a person's AI tools share: the Open Memory Protocol 0.1 and the agent state.",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.1",
    "SCHEMA_PATH_PREFIX": "/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "POSTPROCESSING_HOOKS": ["api.schema.complete"],
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}
CORS_ALLOW_ALL_ORIGINS = True
CORS_ALLOW_CREDENTIALS = False
CORS_URLS_REGEX = r"^/(v1|mcp|\.well-known|oauth/(token|register|revoke))(/|$)"
CORS_ALLOW_HEADERS = [
    "accept", "authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "mcp-method",
    "mcp-name", "mcp-protocol-version", "mcp-session-id", "prefer", "x-api-key", "x-request-id",
]  # fmt: skip
CORS_EXPOSE_HEADERS = [
    "etag", "idempotency-replayed", "link", "location", "ratelimit", "ratelimit-policy", "retry-after",
    "www-authenticate", "x-request-id", "x-search-pending",
]  # fmt: skip
CORS_PREFLIGHT_MAX_AGE = 86_400

# The MCP endpoint, and OAuth for it
MCP_ORIGINS = frozenset(env_list("OMP_MCP_ORIGINS"))  # pages that may call /mcp from a browser; * for all
MCP_AI_TOOLS = env_bool("OMP_MCP_AI_TOOLS", False)  # extract_memories and compress_conversation as tools
OAUTH_APP_SCHEMES = frozenset(
    {"cursor", "vscode", "vscode-insiders", "windsurf", "zed"} | set(env_list("OMP_OAUTH_APP_SCHEMES"))
)
if OAUTH_APP_SCHEMES & {"javascript", "data", "vbscript", "file", "blob", "about", "ftp", "ws", "wss"}:
    raise ImproperlyConfigured("OMP_OAUTH_APP_SCHEMES may only name the schemes of applications.")
OAUTH_REGISTRATIONS_PER_MINUTE = env_int("OMP_OAUTH_REGISTRATIONS_PER_MINUTE", 30, minimum=1)
OAUTH_LOCAL_CLIENTS = env_bool("OMP_OAUTH_LOCAL_CLIENTS", False)
if OAUTH_LOCAL_CLIENTS and PRODUCTION:
    raise ImproperlyConfigured("OMP_OAUTH_LOCAL_CLIENTS is for development: it lets strangers reach this machine.")
OAUTH2_PROVIDER_APPLICATION_MODEL = "oauth2_provider.Application"  # named because foreign keys point to it
OAUTH2_PROVIDER = {
    "OAUTH2_VALIDATOR_CLASS": "grants.validator.GrantValidator",
    "SCOPES": GRANT_SCOPES,
    "DEFAULT_SCOPES": ["read"],
    "OIDC_ISS_ENDPOINT": PUBLIC_URL if PUBLIC_URL_GIVEN else "",
    "ACCESS_TOKEN_GENERATOR": "grants.authentication.access_token_generate",
    "REFRESH_TOKEN_GENERATOR": "grants.authentication.refresh_token_generate",
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 60,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3_600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 90 * 86_400,
    "ROTATE_REFRESH_TOKEN": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "PKCE_REQUIRED": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https", "http", *sorted(OAUTH_APP_SCHEMES)],
    "ALLOW_LOCALHOST_LOOPBACK": True,
    "CIMD_ENABLED": True,
    "CIMD_METADATA_FETCHER": "grants.documents.DocumentFetcher",
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_PKCE_REQUIRED": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "COMPLIANT_BCP_RFC9700_REFRESH_TOKEN": True,
    "COMPLIANT_BCP_RFC9700_REDIRECT_URI_MATCHING": True,
}
# Plain http redirects are for applications on the person's own machine; grants.validator takes no others.
SILENCED_SYSTEM_CHECKS = ["oauth2_provider.W008"]

# The AI side
AI_PROVIDER = env_choice("OMP_AI_PROVIDER", "anthropic", ("anthropic", "openai"))
AI_API_KEY = env_str("OMP_AI_API_KEY")
AI_BASE_URL = env_str("OMP_AI_BASE_URL")
AI_MODEL = env_str("OMP_AI_MODEL")
AI_MODELS = {
    name: env_str(f"OMP_AI_{name.upper()}_MODEL", AI_MODEL if name == AI_PROVIDER else "")
    for name in ("anthropic", "openai")
}
AI_BASE_URLS = {
    name: env_str(f"OMP_AI_{name.upper()}_BASE_URL", AI_BASE_URL).rstrip("/") for name in ("anthropic", "openai")
}
for url in AI_BASE_URLS.values():
    if url and not url.startswith(("http://", "https://")):
        raise ImproperlyConfigured("OMP_AI_BASE_URL must begin with http:// or https://.")
AI_WAIT_SECONDS = env_int("OMP_AI_WAIT_SECONDS", 60)
# A waiting request holds a thread of the web server; beyond these, requests are told to come again.
AI_WAITING_REQUESTS = env_int("OMP_AI_WAITING_REQUESTS", 8)
AI_TIMEOUT_SECONDS = env_int("OMP_AI_TIMEOUT_SECONDS", 120, minimum=1)
AI_RETRIES = env_int("OMP_AI_RETRIES", 3)
AI_BACKOFF_MS = env_int("OMP_AI_BACKOFF_MS", 1_000)
# "input,output" in US dollars for a million tokens, for models whose price is not known here.
AI_PRICES = tuple(env_list("OMP_AI_PRICES"))
if AI_PRICES and (len(AI_PRICES) != 2 or not all(re.fullmatch(r"\d+(\.\d+)?", price) for price in AI_PRICES)):
    raise ImproperlyConfigured("OMP_AI_PRICES must be two numbers with a comma between them, such as 0.25,2.")

# Celery. Messages carry ids only; PostgreSQL holds the state, so a lost message is found again by the sweep.
# Celery's name for the number of the logical database of a socket is another one.
CELERY_BROKER_URL = (
    f"redis+socket://{quote(REDIS_URL.removeprefix('unix://').replace('db=', 'virtual_host='), safe='/?=&')}"
    if REDIS_URL.startswith("unix://")
    else REDIS_URL
)
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = 3_600
CELERY_TASK_SERIALIZER = "json"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 3
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3_900,
    "global_keyprefix": "celery:",
    "socket_timeout": 5,
    "socket_connect_timeout": 1,
    "max_retries": 0,  # who orders work does not wait for Valkey: the sweep finds what it could not order
}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BEAT_SCHEDULE = {
    "grants-purge": {"task": "grants.purge", "schedule": crontab(minute=20, hour=3)},
    "memories-purge": {"task": "memories.purge", "schedule": crontab(minute="*/10")},
    "events-purge": {"task": "events.purge", "schedule": crontab(minute="40")},
    "answers-purge": {"task": "api.purge", "schedule": crontab(minute="50")},
    "dreams-reap": {"task": "dreams.reap", "schedule": crontab(minute="*/5")},
    "dreams-purge": {"task": "dreams.purge", "schedule": crontab(minute="20")},
    "actions-expire": {"task": "actions.expire", "schedule": 60.0},
    "jobs-sweep": {"task": "jobs.sweep", "schedule": 30.0},
    "jobs-purge": {"task": "jobs.purge", "schedule": crontab(minute=40, hour=3)},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "celerybeat-schedule")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s",
        }
    },
    "filters": {"errors": {"()": "config.logs.ErrorsWithoutText"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["errors"]}},
    "root": {"handlers": ["console"], "level": env_choice("OMP_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING"))},
    "loggers": {
        "django.request": {"level": "CRITICAL"},  # api.middleware logs each request once, without its content
        "django.db.backends": {"level": "WARNING"},
        "django.security": {"level": "CRITICAL"},  # its messages quote what the client sent
        "oauthlib": {"level": "WARNING"},  # its debug lines hold whole requests
        "oauth2_provider": {"level": "INFO"},
        # At DEBUG these write whole requests, transcripts included.
        "anthropic": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "httpcore2": {"level": "WARNING"},
    },
}

# Search and embedding
EMBEDDING_MODEL = env_str("OMP_EMBEDDING_MODEL", "bge-small-en-v1.5")
EMBEDDING_BASE_URL = env_str("OMP_EMBEDDING_BASE_URL")
EMBEDDING_API_KEY = env_str("OMP_EMBEDDING_API_KEY")
EMBEDDING_DIMENSIONS = env_int("OMP_EMBEDDING_DIMENSIONS", 0)
EMBEDDING_THREADS = env_int("OMP_EMBEDDING_THREADS", 1, minimum=1)
MODELS_DIR = Path(env_str("OMP_MODELS_DIR", str(DATA_DIR / "models")))
SEARCH_RERANK = env_bool("OMP_SEARCH_RERANK", False)
SEARCH_INDEX_FROM = env_int("OMP_SEARCH_INDEX_FROM", 15_000, minimum=1)  # vectors of a space that get an index
SEARCH_EF = env_int("OMP_SEARCH_EF", 200, minimum=10)
CELERY_BEAT_SCHEDULE |= {
    "embedding-sweep": {"task": "embedding.sweep", "schedule": 30.0, "options": {"queue": "embed"}},
    "embedding-indexes": {"task": "embedding.indexes", "schedule": 300.0, "options": {"queue": "embed"}},
}
