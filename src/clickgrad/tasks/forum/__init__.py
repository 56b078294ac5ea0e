"""The forum's tasks: its templates, each with its instances and its expert."""

from __future__ import annotations

from clickgrad.tasks.forum import (
    contact,
    finding,
    impossible,
    lists,
    plays_changing,
    plays_contact,
    plays_finding,
    plays_lists,
    reacting,
    writing,
)
from clickgrad.tasks.templates import Template

FORUM_TEMPLATES = (
    Template("forum", "post_fact", finding.post_fact, plays_finding.post_fact),
    Template("forum", "compare_posts", finding.compare_posts, plays_finding.compare_posts),
    Template("forum", "user_fact", finding.user_fact, plays_finding.user_fact),
    Template("forum", "list_leader", lists.list_leader, plays_lists.list_leader),
    Template("forum", "open_list", lists.open_list, plays_lists.open_list),
    Template("forum", "count_comments", lists.count_comments, plays_lists.count_comments),
    Template("forum", "subscribe", reacting.subscribe, plays_changing.subscribe),
    Template("forum", "vote_post", reacting.vote_post, plays_changing.vote_post),
    Template("forum", "vote_comment", reacting.vote_comment, plays_changing.vote_comment),
    Template("forum", "submit_post", writing.submit_post, plays_changing.submit_post),
    Template("forum", "write_comment", writing.write_comment, plays_changing.write_comment),
    Template("forum", "edit_own", writing.edit_own, plays_changing.edit_own),
    Template("forum", "message", contact.message, plays_contact.message),
    Template("forum", "impossible", impossible.impossible, plays_contact.impossible),
    Template("forum", "delete_own", writing.delete_own, plays_changing.delete_own, unseen=True),
    Template("forum", "profile", contact.profile, plays_contact.profile, unseen=True),
    Template("forum", "forum_fact", contact.forum_fact, plays_contact.forum_fact, unseen=True),
)

__all__ = ["FORUM_TEMPLATES"]
