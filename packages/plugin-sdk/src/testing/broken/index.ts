// One engine per conformance case that breaks just that rule.
import { BROKEN_ABORT } from "./abort.ts";
import { BROKEN_AFTER_TURN } from "./after-turn.ts";
import { BROKEN_ASSEMBLE } from "./assemble.ts";
import type { BrokenEngines } from "./break.ts";
import { BROKEN_BUDGET } from "./budget.ts";
import { BROKEN_COMMIT } from "./commit.ts";
import { BROKEN_COMPACT } from "./compact.ts";
import { BROKEN_CONTRACT } from "./contract.ts";
import { BROKEN_CRASH } from "./crash.ts";
import { BROKEN_DISPOSE } from "./dispose.ts";
import { BROKEN_HOST } from "./host.ts";
import { BROKEN_IDEMPOTENCE } from "./idempotence.ts";
import { BROKEN_INGEST } from "./ingest.ts";
import { BROKEN_INPUT } from "./input.ts";
import { BROKEN_ISOLATION } from "./isolation.ts";
import { BROKEN_PROCESS, BROKEN_SESSIONS } from "./sessions.ts";
import { BROKEN_SUBAGENTS } from "./subagents.ts";

/** By the id of the case that must catch it. */
export const BROKEN_ENGINES: BrokenEngines = {
  ...BROKEN_CONTRACT,
  ...BROKEN_HOST,
  ...BROKEN_INGEST,
  ...BROKEN_IDEMPOTENCE,
  ...BROKEN_AFTER_TURN,
  ...BROKEN_ASSEMBLE,
  ...BROKEN_BUDGET,
  ...BROKEN_INPUT,
  ...BROKEN_COMPACT,
  ...BROKEN_ABORT,
  ...BROKEN_COMMIT,
  ...BROKEN_CRASH,
  ...BROKEN_SUBAGENTS,
  ...BROKEN_DISPOSE,
  ...BROKEN_ISOLATION,
  ...BROKEN_SESSIONS,
  ...BROKEN_PROCESS,
};
