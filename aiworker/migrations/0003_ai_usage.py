import django.db.models.deletion
from django.db import migrations, models

from accounts.rowsecurity import space_policy


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("aiworker", "0002_lost_jobs"),
    ]

    operations = [
        migrations.CreateModel(
            name="AiUsage",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "space_id",
                        "day",
                        "provider",
                        "model",
                        "purpose",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("day", models.DateField()),
                ("provider", models.CharField(max_length=20)),
                ("model", models.CharField(max_length=100)),
                ("purpose", models.CharField(max_length=20)),
                ("calls", models.PositiveBigIntegerField(default=0)),
                ("input_tokens", models.PositiveBigIntegerField(default=0)),
                ("output_tokens", models.PositiveBigIntegerField(default=0)),
                (
                    "cost_micros",
                    models.BigIntegerField(help_text="Millionths of a US dollar; null: price not known.", null=True),
                ),
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
        ),
        space_policy("aiworker_aiusage"),
    ]
