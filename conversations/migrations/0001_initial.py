import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import conversations.models
from accounts.rowsecurity import space_policy


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Conversation",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "space_id", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("id", models.CharField(default=conversations.models.conversation_id_generate, max_length=21)),
                (
                    "model",
                    models.CharField(help_text="The AI it was held with, such as chatgpt or claude.", max_length=100),
                ),
                ("topic", models.CharField(max_length=200)),
                ("messages", models.JSONField(default=list)),
                ("message_count", models.PositiveIntegerField()),
                ("source_url", models.CharField(max_length=500, null=True)),
                ("actor", models.CharField(max_length=80)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("extracted_at", models.DateTimeField(help_text="When its memories were last extracted.", null=True)),
                (
                    "space",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.space",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["space", "created_at", "id"], name="conversations_created"),
                    models.Index(
                        condition=models.Q(("source_url__isnull", False)),
                        fields=["space", "source_url"],
                        name="conversations_source_url",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("id__regex", "^conv_[a-z0-9]{16}$")),
                        name="conversations_conversation_id_valid",
                    )
                ],
            },
        ),
        space_policy("conversations_conversation"),
    ]
