"""Confirmation as the settings want it, for whichever process needs it."""

from datetime import timedelta

from bot.agent.action_store import ActionStore
from bot.agent.audit import AuditLog, load_audit_key
from bot.agent.confirmation import Confirmation
from bot.agent.deciders import Deciders
from bot.agent.running import Notify
from bot.agent.skills.gate import SkillGate
from bot.bootstrap import Product, State
from core.clock import SystemClock


def open_audit_log(state: State) -> AuditLog:
    """Return the audit log of the home folder.

    Raises:
        SettingsError: The key is damaged or can't be made.
    """
    return AuditLog(state.database, SystemClock(), load_audit_key(state.settings.home))


def build_deciders(product: Product) -> Deciders:
    """Return who may confirm what."""
    state = product.state
    return Deciders(
        state.registry,
        product.memberships,
        state.settings.actions.deciders,
        of_skill=product.skills.list_deciders,
    )


def build_confirmation(product: Product, *, notify: Notify | None = None) -> Confirmation:
    """Put it together; drafts expire by the machine's own clock, whatever questions are asked by.

    Args:
        product: Its database, directory and settings.
        notify: Told after every step; without it messages are brought up to date by whoever looks.

    Raises:
        SettingsError: The audit key is damaged or can't be made.
    """
    state = product.state
    settings = state.settings.actions
    return Confirmation(
        ActionStore(state.database),
        open_audit_log(state),
        product.skills,
        SystemClock(),
        notify=notify,
        may_decide=build_deciders(product).admits,
        may_use=SkillGate(
            skills=product.skills, registry=state.registry, memberships=product.memberships
        ).admits,
        lifetime=timedelta(seconds=settings.lifetime_s),
        run_timeout_s=settings.run_timeout_s,
    )
