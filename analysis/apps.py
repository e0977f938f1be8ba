from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from analysis.insights import register_insights
        from annotation.jobs.services import RESEARCH, JobKind, register_job

        register_insights()
        register_job(
            JobKind(
                "study",
                "Study",
                run="analysis.web.services.run_study",
                page="analysis.web.pages.job_response",
                home="studies",
                lane=RESEARCH,
                stops_at_once=True,
                upkeep="analysis.insights.proposals.keep_up",
                forget="analysis.web.services.forget_replays",
            )
        )
