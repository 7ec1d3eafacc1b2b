// Runs `clew policy`, which asks whether a provider would accept a history.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  APIS,
  findApi,
  findProvider,
  modelProfile,
  type PolicyChange,
  PROVIDERS,
} from "@clew/plugin-sdk/host";
import { buildContext, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import {
  explainInvalid,
  prepareOutboundMessages,
  sanitizeSessionHistory,
} from "@clew/transcript-policy";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { installedImageCodec } from "../models/image-codec.ts";
import { parseSessionName } from "../sessions/keys.ts";
import { readTranscript } from "../sessions/read-transcript.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";
import { nearestOf } from "../text/nearest.ts";
import { counted } from "../text/number.ts";
import { storedSessions } from "./stored-sessions.ts";

/** Without an environment only the providers of the catalogue are known. */
type PolicyShell = Pick<Shell, "output"> & Partial<Pick<Shell, "environment">>;

export interface PolicyOptions {
  provider: string;
  model: string;
  /** Wire; default: the provider's usual one. */
  api?: string;
  json?: boolean;
}

/** Exit code 0: it would be accepted as it is; 1: it would not, and why; 2: nothing to check. */
export async function policyCheck(
  session: string,
  options: PolicyOptions,
  { output, environment }: PolicyShell,
): Promise<number> {
  const { file, messages, route } = await readHistory(session, options, environment);
  const faults = explainInvalid({ ...route, messages });
  const { provider, modelApi, modelId } = route;
  const { assumed } = modelProfile({ provider, api: modelApi, id: modelId });
  if (options.json) output.json({ file, ...route, messages: messages.length, faults, assumed });
  else if (faults.length === 0)
    output.line(
      `${route.provider}/${route.modelId} would accept the history as it is (${counted(messages.length, "message")}).`,
    );
  else {
    output.line(
      formatTable(
        ["message", "rule", "why"],
        faults.map((fault) => [String(fault.index), fault.rule, printable(fault.message)]),
      ),
    );
    output.note(
      `${counted(faults.length, "fault")}; "clew policy apply" shows the history that would be sent instead.`,
    );
  }
  if (!options.json) for (const words of assumed) output.note(printable(words));
  return faults.length === 0 ? 0 : 1;
}

/** Prints the history as it would be sent, and to stderr what was changed. */
export async function policyApply(
  session: string,
  options: PolicyOptions,
  { output, environment }: PolicyShell,
): Promise<number> {
  const { file, messages, route } = await readHistory(session, options, environment);
  const replay = await sanitizeSessionHistory({
    ...route,
    messages,
    ...installedImageCodec(),
  });
  const outbound = prepareOutboundMessages({ ...route, messages: replay.messages });
  const changes = [...replay.changes, ...outbound.changes];
  if (options.json) output.json({ file, ...route, messages: outbound.messages, changes });
  else
    for (const { __openclaw: _notSent, ...message } of outbound.messages)
      output.line(JSON.stringify(message));
  if (!options.json) for (const change of changes) output.note(printable(describeChange(change)));
  output.note(
    `${counted(messages.length, "message")} in, ${outbound.messages.length} out, ${counted(changes.length, "change")}.`,
  );
  return 0;
}

export const describeChange = ({ action, index, rule, reason, count = 1 }: PolicyChange): string =>
  `${action} message ${index}${count > 1 ? ` and ${count - 1} more` : ""} (${rule}): ${reason}`;

async function readHistory(
  session: string,
  { model, ...names }: PolicyOptions,
  environment: Shell["environment"] | undefined,
) {
  const loaded = environment && (await loadConfig(environment.configFile));
  const { file, branch } = await branchOf(session, environment);
  const { items } = buildContext(branch);
  if (items.length === 0)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `${session} holds no messages; name a session that has some.`,
    );
  return {
    file,
    messages: items.map((item) => item.message),
    route: { ...findRoute(names, loaded?.config), modelId: model },
  };
}

/** Of a file that is there, else of the session of that name. Throws TRANSCRIPT_UNREADABLE. */
async function branchOf(
  named: string,
  environment: Shell["environment"] | undefined,
): Promise<{ file: string; branch: readonly TranscriptEntry[] }> {
  const file = resolve(named);
  const isName = environment !== undefined && parseSessionName(named) !== undefined;
  const session =
    !existsSync(file) && isName
      ? await (await storedSessions(environment)).sessions.read(named)
      : null;
  return session ?? { file, branch: (await readTranscript(file)).branch };
}

/** Throws for a name that nobody knows: its rules would be anybody's, and the answer a guess. */
function findRoute({ provider, api }: Pick<PolicyOptions, "provider" | "api">, config?: Config) {
  const configured = config?.models.providers ?? {};
  const own = Object.hasOwn(configured, provider) ? configured[provider] : undefined;
  const record = findProvider(provider.trim().toLowerCase());
  const known = [...PROVIDERS.map(({ id }) => id), ...Object.keys(configured)];
  if (record === undefined && own === undefined) throw unknown("provider", provider, known);
  const modelApi = api ?? own?.api ?? record?.apis[0] ?? "openai-completions";
  if (findApi(modelApi) === undefined)
    throw unknown(
      "api",
      modelApi,
      APIS.map(({ id }) => id),
    );
  return { provider: record?.id ?? provider, modelApi };
}

function unknown(what: "provider" | "api", name: string, known: string[]): ContextEngineError {
  const nearest = nearestOf(name, known);
  const guess = nearest === null ? "" : ` Did you mean "${nearest}"?`;
  return new ContextEngineError(
    "REQUEST_INVALID",
    `There are no rules of the ${what} "${name}".${guess} Known: ${known.join(", ")}.`,
  );
}
