// Makes what is quoted safe to stand inside the tags of hosts and engines.

/** The tags that hosts and engines write around what they keep, and around what they quote. */
const OURS =
  /<(?=\s*(?:\/\s*)?(?:record|open-request|summary|ledger|anchors?|pins?|conversation|previous-summary|focus)\b)/giu;

/** Terminal commands, control characters, and marks that turn the direction of what follows. */
const UNSEEN =
  /\u001b\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * `text` in which every tag of ours is only text. Escaping twice changes nothing more (spec
 * "compaction", "Decided since" 4).
 */
export const escapeTags = (text: string): string => text.replace(OURS, "&lt;");

/** `text` without what a reader would not see; line feeds and tabs stay. */
export const withoutUnseen = (text: string): string => text.replace(UNSEEN, "");
