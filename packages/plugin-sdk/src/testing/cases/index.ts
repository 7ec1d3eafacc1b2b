// The one list of conformance cases, in the order in which they are reported.
import type { ConformanceCase } from "../case.ts";
import { abortCases } from "./abort.ts";
import { afterTurnCases } from "./after-turn.ts";
import { assembleCases } from "./assemble.ts";
import { budgetCases } from "./budget.ts";
import { commitCases } from "./commit.ts";
import { compactCases } from "./compact.ts";
import { contractCases } from "./contract.ts";
import { crashCases } from "./crash.ts";
import { disposeCases } from "./dispose.ts";
import { hostCases } from "./host.ts";
import { idempotenceCases } from "./idempotence.ts";
import { ingestCases } from "./ingest.ts";
import { inputCases } from "./input.ts";
import { isolationCases } from "./isolation.ts";
import { processCases } from "./process.ts";
import { sessionCases } from "./sessions.ts";
import { strangeHistoryCases } from "./strange-histories.ts";
import { subagentCases } from "./subagents.ts";

export const CONFORMANCE_CASES: readonly ConformanceCase[] = [
  ...contractCases,
  ...hostCases,
  ...ingestCases,
  ...idempotenceCases,
  ...afterTurnCases,
  ...assembleCases,
  ...strangeHistoryCases,
  ...budgetCases,
  ...inputCases,
  ...compactCases,
  ...abortCases,
  ...commitCases,
  ...crashCases,
  ...subagentCases,
  ...disposeCases,
  ...isolationCases,
  ...sessionCases,
  ...processCases,
];
