// Conformance cases about the shape of an engine and of its results.

import { isRecord } from "../../is-record.ts";
import { type ConformanceCase, onlyWith } from "../case.ts";
import { call, check } from "../engine-call.ts";
import { talk } from "./observe.ts";

const OPTIONAL = [
  "bootstrap",
  "maintain",
  "ingestBatch",
  "afterTurn",
  "prepareSubagentSpawn",
  "onSubagentEnded",
  "commitTurn",
  "dispose",
] as const;

export const contractCases: readonly ConformanceCase[] = [
  {
    id: "contract/info",
    group: "contract",
    title: "info has a non-blank id and a non-blank name",
    rule: "For display; not blank.",
    async run({ engine }) {
      check(isRecord(engine.info), "info is not an object.");
      check(isText(engine.info.id), "info.id is missing or blank.");
      check(isText(engine.info.name), "info.name is missing or blank.");
    },
  },
  {
    id: "contract/methods",
    group: "contract",
    title:
      "ingest, assemble and compact are functions, and so is every optional method that is there",
    rule: "`info`, `ingest`, `assemble` and `compact` are required",
    async run({ engine }) {
      for (const name of ["ingest", "assemble", "compact"] as const)
        check(typeof engine[name] === "function", `${name} is not a function.`);
      for (const name of OPTIONAL)
        check(
          engine[name] === undefined || typeof engine[name] === "function",
          `${name} is there but is not a function.`,
        );
    },
  },
  {
    id: "contract/durable-declaration",
    group: "contract",
    title: "an engine that declares the durable lifecycle has commitTurn",
    rule: "Both fields and `commitTurn` together select the durable lifecycle.",
    appliesTo: "engines that declare both transcript semantics",
    when: ({ info: { transcriptSemantics: declared } }) =>
      declared?.currentTurnFence !== undefined && declared.turnAdvancementIdempotency !== undefined,
    async run({ engine }) {
      check(
        typeof engine.commitTurn === "function",
        "info declares transcriptSemantics but there is no commitTurn().",
      );
    },
  },
  {
    id: "contract/ingest-result",
    group: "contract",
    title: "ingest answers { ingested: boolean }",
    rule: "False: a duplicate, or nothing to do.",
    async run(context) {
      const { sessionId, sessionKey } = context.session().ref;
      const result: unknown = await call(context.engine, "ingest", {
        sessionId,
        sessionKey,
        message: talk("a", { turns: 1 })[0]!,
      });
      check(
        isRecord(result) && typeof result.ingested === "boolean",
        "ingest() did not answer { ingested: boolean }.",
      );
    },
  },
  {
    id: "contract/ingest-batch-result",
    group: "contract",
    title: "ingestBatch answers how many of the given messages were new",
    rule: "How many of them were new to the engine.",
    ...onlyWith("ingestBatch"),
    async run(context) {
      const { sessionId, sessionKey } = context.session().ref;
      const messages = talk("a", { turns: 3 });
      const result: unknown = await call(context.engine, "ingestBatch", {
        sessionId,
        sessionKey,
        messages,
      });
      const count = isRecord(result) ? result.ingestedCount : undefined;
      check(
        isCount(count) && count <= 6,
        "ingestBatch() of 6 messages did not answer an ingestedCount from 0 to 6.",
      );
    },
  },
  {
    id: "contract/bootstrap-result",
    group: "contract",
    title: "bootstrap answers { bootstrapped, importedMessages? }",
    rule: "Messages taken in by this call.",
    ...onlyWith("bootstrap"),
    async run(context) {
      await context.session().write(talk("a", { turns: 3 }));
      const result: unknown = await context.session().bootstrap(context.engine);
      check(
        isRecord(result) && typeof result.bootstrapped === "boolean",
        "bootstrap() did not answer { bootstrapped: boolean }.",
      );
      check(
        result.importedMessages === undefined || isCount(result.importedMessages),
        "bootstrap() answered an odd importedMessages.",
      );
    },
  },
  {
    id: "contract/maintain-result",
    group: "contract",
    title: "maintain answers { changed, bytesFreed, rewrittenEntries }",
    rule: "What `maintain` changed in the transcript.",
    ...onlyWith("maintain"),
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, talk("a", { turns: 3 }));
      const result: unknown = await call(context.engine, "maintain", { ...session.ref });
      const isValid =
        isRecord(result) &&
        typeof result.changed === "boolean" &&
        isCount(result.bytesFreed) &&
        isCount(result.rewrittenEntries);
      check(isValid, "maintain() did not answer { changed, bytesFreed, rewrittenEntries }.");
    },
  },
  {
    id: "contract/assemble-result",
    group: "contract",
    title:
      "assemble answers messages with roles, a count of tokens, and nothing unknown for an authority",
    rule: "What the model is shown, oldest first, every tool call with its result.",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, talk("a", { turns: 3, tools: 1 }));
      const result: unknown = await session.assemble(context.engine);
      check(
        isRecord(result) && Array.isArray(result.messages),
        "assemble() did not answer an object with a messages array.",
      );
      check(
        result.messages.every((message: unknown) => isRecord(message) && isText(message.role)),
        "assemble() answered a message without a role.",
      );
      const {
        estimatedTokens: tokens,
        promptAuthority: authority,
        systemPromptAddition: addition,
      } = result;
      check(
        typeof tokens === "number" && Number.isFinite(tokens) && tokens >= 0,
        "assemble() answered no finite estimatedTokens ≥ 0.",
      );
      check(
        authority === undefined ||
          authority === "assembled" ||
          authority === "preassembly_may_overflow",
        "assemble() answered an unknown promptAuthority.",
      );
      check(
        addition === undefined || typeof addition === "string",
        "assemble() answered a systemPromptAddition that is no text.",
      );
    },
  },
  {
    id: "contract/compact-result",
    group: "contract",
    title: "compact answers { ok, compacted }, and compacted only when ok",
    rule: "`ok: true, compacted: false` = nothing to do.",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, talk("a", { turns: 12, tools: 1 }));
      const result: unknown = await session.compact(context.engine);
      const isValid =
        isRecord(result) && typeof result.ok === "boolean" && typeof result.compacted === "boolean";
      check(isValid, "compact() did not answer { ok: boolean, compacted: boolean }.");
      check(
        result.ok === true || result.compacted === false,
        "compact() answered that it compacted but is not ok.",
      );
      check(
        result.reason === undefined || typeof result.reason === "string",
        "compact() answered a reason that is no text.",
      );
    },
  },
];

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
