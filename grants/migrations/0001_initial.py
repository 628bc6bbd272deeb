import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Grant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="What lists call the assistant.", max_length=100)),
                ("tool", models.CharField(help_text="The only source.tool that it writes.", max_length=100)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=10), help_text="Of read, write and propose.", size=None
                    ),
                ),
                (
                    "family",
                    models.UUIDField(default=uuid.uuid4, help_text="The family of its refresh tokens.", unique=True),
                ),
                (
                    "code",
                    models.CharField(
                        help_text="SHA-256 of the authorization code, in hexadecimal.", max_length=64, unique=True
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("connected_at", models.DateTimeField(help_text="When the code was exchanged.", null=True)),
                ("last_used_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "application",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grants",
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                    ),
                ),
                (
                    "space",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="grants", to="accounts.space"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="grants", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["space", "created_at"], name="grants_grant_space")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("scopes__contained_by", ["read", "write", "propose"])),
                        name="grants_grant_scopes_valid",
                    )
                ],
            },
        ),
    ]
