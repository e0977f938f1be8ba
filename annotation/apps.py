from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotation.adjudication import (  # noqa: F401  (register pages and rules)
            final,
            people,
            selectors,
            services,
        )
        from annotation.jobs.services import FILES, RESEARCH, JobKind, register_job
        from annotation.rounds import preview, quality  # noqa: F401  (register what pages show)
        from annotation.web import security  # noqa: F401  (registers the start-up checks)
        from annotation.web.rest import register_converters

        for kind in (
            JobKind(
                "import",
                "Import",
                run="annotation.corpora.jobs.run_import",
                page="annotation.corpora.import_pages.job_response",
                lane=FILES,
            ),
            JobKind("export", "Export", run="annotation.corpora.jobs.run_export", lane=FILES),
            JobKind("suggest", "Suggestions", run="annotation.predictions.sources.run_asking"),
            JobKind("predict", "Predictions", run="annotation.predictions.services.run_prediction"),
            JobKind(
                "round",
                "Round",
                run="annotation.rounds.stages.run_round",
                follow="annotation.rounds.services.follow_job",
                upkeep="annotation.rounds.services.keep_up",
            ),
            JobKind(
                "insight",
                "Insight",
                run="annotation.jobs.insights.run_insight",
                page="annotation.jobs.pages.insight_response",
            ),
            JobKind(
                "report",
                "Report",
                run="annotation.jobs.insights.run_insight",
                page="annotation.jobs.pages.insight_response",
                lane=FILES,
            ),
            JobKind(
                "research",
                "Research",
                run="annotation.jobs.insights.run_insight",
                page="annotation.jobs.pages.insight_response",
                lane=RESEARCH,
            ),
            JobKind(
                "deliver",
                "Mails and webhooks",
                run="annotation.jobs.worker.run_deliveries",
                upkeep="annotation.jobs.worker.queue_deliveries",
                lane=FILES,
            ),
        ):
            register_job(kind)
        register_converters()
