// The changes that make a database what this version expects, in order.
import { SESSIONS } from "./0001-sessions.ts";
import { COPIES } from "./0002-copies.ts";
import { INBOX } from "./0003-inbox.ts";
import { KEPT_FILES } from "./0004-kept-files.ts";
import { DUE_MESSAGES } from "./0005-due-messages.ts";
import { SEARCH } from "./0006-search.ts";
import { ENGINE_ROWS } from "./0007-engine-rows.ts";
import { BLOBS } from "./0008-blobs.ts";
import { JOBS } from "./0009-jobs.ts";
import { COPIED_ROWS } from "./0010-copied-rows.ts";
import { DUTIES } from "./0011-duties.ts";
import { NODE_KEYS } from "./0012-node-keys.ts";
import { CHILDREN } from "./0013-children.ts";
import { COSTS } from "./0014-costs.ts";
import { TAKEN_BACK } from "./0015-taken-back.ts";
import { COSTS_PUT_AT } from "./0016-costs-put-at.ts";
import { PART_USES } from "./0017-part-uses.ts";

/** Only ever longer: the number of one is its place, counted from 1. */
export const MIGRATIONS: readonly string[] = [
  SESSIONS,
  COPIES,
  INBOX,
  KEPT_FILES,
  DUE_MESSAGES,
  SEARCH,
  ENGINE_ROWS,
  BLOBS,
  JOBS,
  COPIED_ROWS,
  DUTIES,
  NODE_KEYS,
  CHILDREN,
  COSTS,
  TAKEN_BACK,
  COSTS_PUT_AT,
  PART_USES,
];
