"""The forum's tasks: its templates, each with its instances and its expert."""

from __future__ import annotations

from clickgrad.tasks.forum import (
    contact,
    finding,
    impossible,
    lists,
    reacting,
    scripts_changing,
    scripts_contact,
    scripts_finding,
    scripts_lists,
    writing,
)
from clickgrad.tasks.templates import Template

FORUM_TEMPLATES = (
    Template("forum", "post_fact", finding.post_fact, scripts_finding.post_fact),
    Template("forum", "compare_posts", finding.compare_posts, scripts_finding.compare_posts),
    Template("forum", "user_fact", finding.user_fact, scripts_finding.user_fact),
    Template("forum", "list_leader", lists.list_leader, scripts_lists.list_leader),
    Template("forum", "open_list", lists.open_list, scripts_lists.open_list),
    Template("forum", "count_comments", lists.count_comments, scripts_lists.count_comments),
    Template("forum", "subscribe", reacting.subscribe, scripts_changing.subscribe),
    Template("forum", "vote_post", reacting.vote_post, scripts_changing.vote_post),
    Template("forum", "vote_comment", reacting.vote_comment, scripts_changing.vote_comment),
    Template("forum", "submit_post", writing.submit_post, scripts_changing.submit_post),
    Template("forum", "write_comment", writing.write_comment, scripts_changing.write_comment),
    Template("forum", "edit_own", writing.edit_own, scripts_changing.edit_own),
    Template("forum", "message", contact.message, scripts_contact.message),
    Template("forum", "impossible", impossible.impossible, scripts_contact.impossible),
    Template("forum", "delete_own", writing.delete_own, scripts_changing.delete_own, unseen=True),
    Template("forum", "profile", contact.profile, scripts_contact.profile, unseen=True),
    Template("forum", "forum_fact", contact.forum_fact, scripts_contact.forum_fact, unseen=True),
)

__all__ = ["FORUM_TEMPLATES"]
