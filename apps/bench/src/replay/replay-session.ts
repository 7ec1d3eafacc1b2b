// Replays one recorded session through the gateway and looks at every request.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelPort } from "@clew/engine-core";
import type { ModelCall, ModelRef } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { explainInvalid } from "@clew/transcript-policy";
import { composeHost } from "../../../gateway/src/compose.ts";
import { readEnvironment } from "../../../gateway/src/config/environment.ts";
import { checkConfigText } from "../../../gateway/src/config/load.ts";
import type { Host } from "../../../gateway/src/host/host.ts";
import { planRecordedTurns } from "../../../gateway/src/replay/recorded-turns.ts";
import { type ReplayResult, runReplay } from "../../../gateway/src/replay/run-replay.ts";
import { openReportLog } from "../../../gateway/src/reports/report-log.ts";
import { agentPaths } from "../../../gateway/src/sessions/paths.ts";
import { createSessionStore } from "../../../gateway/src/sessions/store.ts";
import type { Recording } from "../shared/recordings.ts";

export interface ObservedReplay {
  result: ReplayResult;
  /** Requests the formal checker would reject, and what it says of the first. */
  invalid: number;
  firstFault: string | undefined;
  /**
   * Of all requests: their bytes, and those of them that repeat the request
   * before from its first byte on.
   */
  bytes: number;
  reusedBytes: number;
  /** The session as the replay left it. */
  branch: readonly TranscriptEntry[];
}

const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** The offline model summarises; nobody is asked over the network. */
export async function replaySession(
  recording: Recording,
  model: ModelRef,
): Promise<ObservedReplay> {
  const home = await mkdtemp(join(tmpdir(), "clew-bench-"));
  try {
    const loaded = checkConfigText("{}", "clew.json");
    const host = composeHost({
      environment: readEnvironment({ CLEW_HOME: home }),
      loaded,
      log: silent,
    });
    const session = await createSessionStore({ home }).open({ key: "replay", cwd: home });
    const reports = openReportLog(
      agentPaths(home, session.session.agentId).reports,
      session.session.sessionId,
    );
    const seen = observer(model);
    try {
      const result = await runReplay({
        host: observed(host, seen.see),
        session,
        reports,
        model,
        turns: planRecordedTurns(recording.branch),
        signal: new AbortController().signal,
      });
      return { result, ...seen.facts(), branch: session.branch() };
    } finally {
      await session.close();
      await reports.close();
      await host.close();
    }
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function observed(host: Host, see: (call: ModelCall) => void): Host {
  const watch = (model: ModelPort): ModelPort => ({
    ...model,
    stream(call) {
      see(call);
      return model.stream(call);
    },
  });
  return {
    ...host,
    answer: ({ replacement, ...request }) =>
      host.answer({
        ...request,
        ...(replacement !== undefined && {
          replacement: { ...replacement, model: watch(replacement.model) },
        }),
      }),
  };
}

function observer(model: ModelRef) {
  let facts = { invalid: 0, firstFault: undefined as string | undefined, bytes: 0, reusedBytes: 0 };
  let before = Buffer.alloc(0);
  return {
    see({ systemPrompt, tools, messages }: ModelCall) {
      const [fault] = explainInvalid({ messages, modelApi: model.api, modelId: model.id });
      const text = [
        systemPrompt,
        JSON.stringify(tools),
        ...messages.map(({ __openclaw: _notSent, ...message }) => JSON.stringify(message)),
      ].join("\n");
      const request = Buffer.from(text);
      facts = {
        invalid: facts.invalid + (fault === undefined ? 0 : 1),
        firstFault: facts.firstFault ?? (fault && `${fault.rule}: ${fault.message}`),
        bytes: facts.bytes + request.length,
        reusedBytes: facts.reusedBytes + commonPrefix(before, request),
      };
      before = request;
    },
    facts: () => facts,
  };
}

/** Bytes that a warm prompt cache still serves. */
function commonPrefix(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length++;
  return length;
}
