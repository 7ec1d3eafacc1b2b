// Checks the folder, the settings, the model server and the running gateway.

import { constants, existsSync } from "node:fs";
import { access, mkdtemp, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { QuarantineRecord } from "@clew/engine-core";
import { shownAddress } from "@clew/plugin-sdk/host";
import { addressAt, buildRequest, classifyError } from "@clew/providers";
import { agentSettings, defaultAgentId } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { keepCredential } from "../credentials/keep.ts";
import { keepText } from "../credentials/keep-text.ts";
import { signIn } from "../credentials/sign-in.ts";
import {
  describeMissing,
  findOwnGateway,
  type GatewayLookup,
  type OwnGateway,
} from "../gateway-client.ts";
import { unreadableClaim } from "../home/claim.ts";
import { type AgentModels, agentModels } from "../models/agent-models.ts";
import { describeSubstitute } from "../models/describe-rest.ts";
import { modelRequest } from "../models/model-request.ts";
import { addressBelow, listedIn } from "../models/offered-models.ts";
import { type ResolvedModel, resolveModel } from "../models/resolve.ts";
import { describeUnlisted, isOfModels } from "../models/unlisted.ts";
import type { SafeModePlugin } from "../plugins/load/record.ts";
import { describeOtherSettings, otherSettings } from "../running-settings.ts";
import { shortName } from "../sessions/keys.ts";
import { checkCompaction } from "./check-compaction.ts";
import { checkCostCaps } from "./check-cost-caps.ts";
import { checkDoor } from "./check-door.ts";
import { checkEngineAndPlugins } from "./check-engine.ts";
import { checkForgetting } from "./check-forgetting.ts";
import { checkHarnesses } from "./check-harness.ts";
import { checkImages } from "./check-images.ts";
import { checkJobs } from "./check-jobs.ts";
import { checkLog } from "./check-log.ts";
import { checkMcp } from "./check-mcp.ts";
import { checkModelChains } from "./check-model-chains.ts";
import { checkModelWindows } from "./check-model-windows.ts";
import { checkRefused } from "./check-refused.ts";
import { checkShadow } from "./check-shadow.ts";
import { checkTokenEstimates } from "./check-token-estimates.ts";
import { checkTools } from "./check-tools.ts";
import { checkTraces } from "./check-traces.ts";
import { checkUnstored } from "./check-unstored.ts";
import { checkWater } from "./check-water.ts";
import type { Finding, FindingCode } from "./finding.ts";
import { repeatedForService } from "./unset-variables.ts";

const PROBE_MS = 3000;

export async function checkHost(
  environment: Environment,
  { fix = false } = {},
): Promise<Finding[]> {
  const folder = await checkHome(environment.home);
  const findings = [folder];
  // There is nothing in it to look at, and never will be.
  if (folder.level === "failure" && !existsSync(environment.home)) return findings;
  let loaded: LoadedConfig;
  try {
    loaded = await loadConfig(environment.configFile);
  } catch (error) {
    return [...findings, failure("settings-invalid", "settings", error)];
  }
  findings.push({
    level: "ok",
    code: "settings",
    subject: "settings",
    text: loaded.exists ? loaded.file : `${loaded.file} does not exist; all settings are defaults`,
  });
  findings.push(
    ...loaded.warnings.map(
      (text): Finding => ({
        ...{ level: "warning", code: "settings-unknown-key", subject: "settings" },
        text,
      }),
    ),
  );
  findings.push(
    ...repeatedForService(environment).map(
      (text): Finding => ({
        ...{ level: "warning", code: "settings-variable-twice", subject: "settings" },
        text,
      }),
    ),
  );
  const { port } = loaded.config.gateway;
  const lookup = await findOwnGateway({ home: environment.home, port });
  const checked = await checkEngineAndPlugins(environment, loaded, { fix, lookup });
  const storage = await storageOf(environment, loaded);
  const refused = checkRefused(environment, loaded, lookup);
  return [
    ...findings,
    ...checked.findings,
    {
      level: "ok",
      code: "engine-check",
      subject: "engine check",
      text: '"clew engine check" tests the engine against the contract',
    },
    ...checkCompaction(environment, loaded, checked.ownCompactor),
    ...checkWater(environment, loaded),
    ...checkImages(),
    ...storage,
    ...checkDoor(environment, loaded),
    ...checkUnstored(lookup),
    ...(await checkForgetting(environment.home, loaded)),
    ...checkTools(loaded.config, environment.home),
    ...(await checkHarnesses(environment, loaded)),
    ...(await checkMcp(loaded.config, environment, lookup)),
    ...(await checkShadow(environment.home, loaded.config)),
    ...(await checkJobs(environment, loaded, lookup)),
    ...(await checkModel(environment, loaded)),
    ...checkModelChains(environment, loaded),
    ...checkModelWindows(environment.home),
    ...checkCostCaps(environment, loaded),
    ...(await checkTokenEstimates(environment.home, loaded, modelOf(environment, loaded))),
    ...checkLog(environment.home),
    ...(await checkTraces(loaded)),
    ...refused,
    checkRunning(lookup, [...refused, ...storage]),
    ...checkRunningSettings(lookup, loaded, checked.findings),
    ...(await checkClaim(environment.home, { fix, lookup })),
  ];
}

/** Its driver is loaded only where it is used. */
const storageOf = async (environment: Environment, loaded: LoadedConfig): Promise<Finding[]> =>
  loaded.config.storage.driver === "files"
    ? []
    : [
        ...(await (await import("./check-storage.ts")).checkStorage(environment, loaded)),
        ...(await (await import("./check-blobs.ts")).checkBlobs(environment, loaded)),
      ];

/** Such a file is left by a power failure, or made by hand. */
async function checkClaim(
  home: string,
  { fix, lookup }: { fix: boolean; lookup: GatewayLookup },
): Promise<Finding[]> {
  const file = await unreadableClaim(home);
  if (file === null) return [];
  const subject = "gateway";
  if (fix && lookup.kind === "none") {
    await rm(file, { recursive: true });
    const text = `${file} could not be read and was removed`;
    return [{ level: "note", code: "gateway-lock-removed", subject, text, isRepair: true }];
  }
  const text = `${file} cannot be read, so "clew start" refuses to start; if no gateway of this home runs, "clew doctor --fix" removes it`;
  return [{ level: "failure", code: "gateway-lock-unreadable", subject, text }];
}

async function checkHome(home: string): Promise<Finding> {
  const found = await stat(home).catch(() => null);
  if (found === null && !(await canBeMade(home)))
    return {
      level: "failure",
      code: "home-not-writable",
      subject: "folder",
      text: `${home} does not exist and cannot be created by this account; set CLEW_HOME`,
    };
  if (found === null)
    return {
      level: "note",
      code: "home-missing",
      subject: "folder",
      text: `${home} does not exist yet; the first message creates it`,
    };
  const writable = await access(home, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!found.isDirectory() || !writable)
    return {
      level: "failure",
      code: "home-not-writable",
      subject: "folder",
      text: `${home} is not a folder this account may write to; set CLEW_HOME`,
    };
  const isOpen = (found.mode & 0o077) !== 0;
  return isOpen
    ? {
        level: "warning",
        code: "home-open-to-others",
        subject: "folder",
        text: `${home} can be read by others on this machine; run: chmod 700 ${home}`,
      }
    : { level: "ok", code: "home", subject: "folder", text: home };
}

/** Some file systems let nobody write, whatever they say of themselves: only trying tells. */
async function canBeMade(folder: string): Promise<boolean> {
  const above = dirname(folder);
  if (above === folder) return false;
  if (!existsSync(above)) return canBeMade(above);
  try {
    await rmdir(await mkdtemp(join(above, ".clew-")));
    return true;
  } catch {
    return false;
  }
}

const modelOf =
  (environment: Environment, { config }: LoadedConfig) =>
  () =>
    resolveModel({
      ...modelRequest(config, environment),
      name: agentSettings(config, environment.home, defaultAgentId(config)).model,
    });

/** Who answers the default agent, asked for real whether the key is good. */
export async function checkModel(
  environment: Environment,
  { config }: LoadedConfig,
): Promise<Finding[]> {
  const named = (name: string) => resolveModel({ ...modelRequest(config, environment), name });
  const settings = agentSettings(config, environment.home, defaultAgentId(config));
  let models: AgentModels;
  try {
    models = agentModels(settings, { models: { named }, rests: {}, now: 0 });
  } catch (error) {
    return [failure("model-unusable", "model", error)];
  }
  const found = await checkAnswer(models.answering, environment);
  const text = describeSubstitute(models, settings.model);
  if (text === null) return found;
  return [{ level: "warning", code: "model-passed-over", subject: "model", text }, ...found];
}

async function checkAnswer(
  resolved: ResolvedModel,
  environment: Pick<Environment, "readText">,
): Promise<Finding[]> {
  const { name, model, endpoint, access: signsInWith } = resolved;
  const about = `${name}, window ${model.contextWindow} tokens`;
  if (endpoint.baseUrl === "")
    return [{ level: "ok", code: "model", subject: "model", text: `${about}; needs no network` }];
  const address = shownAddress(endpoint.baseUrl);
  // Of some, another server lists the models: an answer only shows that this one is there.
  const listed = model.api === "bedrock-converse-stream" ? "" : "models";
  let headers: Record<string, string>;
  try {
    const signed = await signedHeaders(resolved, environment);
    headers = listed === "" ? {} : signed;
  } catch (error) {
    return [failure("model-sign-in", "model", error)];
  }
  try {
    const answer = await fetch(addressAt(endpoint, listed), {
      headers,
      // Nowhere else: the headers hold the key.
      redirect: "manual",
      signal: AbortSignal.timeout(PROBE_MS),
    });
    const body = await readBody(answer);
    if (refusesKey(answer, { body, resolved })) {
      return [
        {
          level: "failure",
          code: "model-key-refused",
          subject: "model",
          text: `${about}: ${address} refuses the key (HTTP ${answer.status}); check models.providers.${model.provider}.apiKey`,
        },
      ];
    }
    const isList = listed !== "" && isOfModels(endpoint.baseUrl) && answer.ok;
    const list = isList ? listedIn(body) : null;
    const unlisted = list?.isWhole ? describeUnlisted(model, { address, names: list.names }) : null;
    if (unlisted !== null)
      return [{ level: "warning", code: "model-not-listed", subject: "model", text: unlisted }];
    const below =
      listed === "" || answer.status !== 404
        ? null
        : await addressBelow(
            { baseUrl: endpoint.baseUrl, timeoutMs: PROBE_MS },
            { kind: "no-list" },
          );
    if (below !== null)
      return [
        {
          level: "failure",
          code: "model-address",
          subject: "model",
          text: `${about}: ${address} has no list of models (HTTP 404) and ${shownAddress(below)} has one; set models.providers.${model.provider}.baseUrl to that`,
        },
      ];
    const answers =
      listed === "" || answer.ok
        ? "answers"
        : `is there, but lists no models (HTTP ${answer.status})`;
    return [
      {
        level: "ok",
        code: "model",
        subject: "model",
        text: `${about}; ${address} ${answers}; speaks ${model.api} (another: models.providers.${model.provider}.api); signs in with ${signsInWith.from}`,
      },
    ];
  } catch {
    return [
      {
        level: "failure",
        code: "model-server-away",
        subject: "model",
        text: `${about}: nothing answers at ${address}; start that server or correct models.providers.${model.provider}.baseUrl`,
      },
    ];
  }
}

/** Google answers 400 to a wrong key. */
function refusesKey(
  { ok, status, headers }: Response,
  { body, resolved: { model, endpoint } }: { body: string; resolved: ResolvedModel },
): boolean {
  if (ok || status >= 500) return false;
  const origin = { provider: model.provider, endpoint };
  const failure = { kind: "http", status, headers, body: body.slice(0, 10_000) } as const;
  return classifyError(failure, origin).kind === "auth";
}

/** A list is worth it; nothing is read of a server that is in trouble. */
async function readBody(answer: Response): Promise<string> {
  if (answer.status < 500) return answer.text();
  await answer.body?.cancel();
  return "";
}

/** The headers of a call: every api has a way of its own to take the key. */
async function signedHeaders(
  { model, endpoint, access: { source, region } }: ResolvedModel,
  { readText }: Pick<Environment, "readText">,
): Promise<Record<string, string>> {
  const { signal } = new AbortController();
  const call = { model, systemPrompt: "", messages: [], tools: [], signal };
  const request = buildRequest(call, endpoint);
  if (source === undefined) return request.headers;
  const now = Date.now;
  const kept = keepCredential(source, { fetch: globalThis.fetch, now, readText, keepText });
  const sign = signIn({ call, endpoint, kept, region, now });
  return { ...request.headers, ...(await sign(request, { signal })) };
}

/** `inTheWay`: what keeps a gateway from its start where it is a failure. */
function checkRunning(lookup: GatewayLookup, inTheWay: readonly Finding[]): Finding {
  const finding = (level: Finding["level"], code: FindingCode, text: string): Finding => ({
    ...{ level, code, subject: "gateway", text },
  });
  switch (lookup.kind) {
    case "running":
      return describeRunning(lookup.gateway);
    case "none":
      if (inTheWay.some(({ level }) => level === "failure"))
        return finding(
          "note",
          "gateway-not-running",
          'is not running, and "clew start" would refuse: see the failures above',
        );
      return finding(
        "note",
        "gateway-not-running",
        lookup.wasCopied
          ? 'is not running, and the gateway.json here came with a copy of another home; "clew start" replaces it'
          : 'is not running; "clew start" starts it',
      );
    case "stranger":
      return finding(
        "warning",
        "gateway-stranger",
        `${describeMissing(lookup)}, and could not start there; stop the other one, or set gateway.port`,
      );
    case "silent":
      return finding(
        "failure",
        "gateway-silent",
        `${describeMissing(lookup)}; if that does not change, restart it`,
      );
    case "unannounced":
      return finding("failure", "gateway-unannounced", describeMissing(lookup));
    case "elsewhere":
      return finding("note", "gateway-elsewhere", describeMissing(lookup));
  }
}

/** Where `found` says what helps the engine's setting, a restart is no second advice. */
function checkRunningSettings(
  lookup: GatewayLookup,
  { config }: LoadedConfig,
  found: readonly Finding[],
): Finding[] {
  if (lookup.kind !== "running") return [];
  const isTold = found.some((each) => "slot" in each && each.slot === "contextEngine");
  const others = otherSettings(lookup.gateway, config);
  const text = describeOtherSettings(others.filter(({ name }) => !isTold || name !== "engine"));
  if (text === null) return [];
  return [{ level: "warning", code: "gateway-other-settings", subject: "gateway", text }];
}

function describeRunning({ url, pid, health }: OwnGateway): Finding {
  const { engine, safeMode = [] } = health as {
    engine?: { quarantined?: Pick<QuarantineRecord, "engineId" | "scope" | "reason">[] };
    safeMode?: SafeModePlugin[];
  };
  // What is off in safe mode has lines of its own.
  const isTold = (why: string) => safeMode.some(({ reason }) => why.includes(reason));
  const aside = (engine?.quarantined ?? []).filter(({ reason }) => !isTold(reason));
  const list = aside
    .map(({ engineId, scope, reason }) =>
      scope?.kind === "session"
        ? `${engineId} in session ${shortName(scope.sessionKey)}: ${reason}`
        : `${engineId}: ${reason}`,
    )
    .join("; ");
  return aside.length === 0
    ? { level: "ok", code: "gateway", subject: "gateway", text: `runs at ${url} (process ${pid})` }
    : {
        level: "warning",
        code: "engine-set-aside",
        subject: "gateway",
        text: `runs at ${url}, with engines set aside: ${list}`,
      };
}

function failure(code: FindingCode, subject: string, error: unknown): Finding {
  return {
    level: "failure",
    code,
    subject,
    text: error instanceof Error ? error.message : String(error),
  };
}
