// What is known about each plugin after loading.
import type { LogPort } from "@clew/engine-core";
import type { PluginManifest } from "@clew/plugin-sdk/host";
import type { PluginOrigin } from "../find/discover.ts";
import type { SafeModeEntry } from "../safe-mode.ts";
import type { StrayRecord } from "../strays.ts";
import { kindsOf } from "./hook-rules.ts";
import { isToolName } from "./register.ts";
import type { Diagnostic, Registrations } from "./registrations.ts";

export interface PluginRecord {
  /** Manifest id; `<id>/<file name>` for one of several entries. */
  id: string;
  name: string;
  version: string | null;
  kinds: readonly string[];
  origin: PluginOrigin;
  folder: string;
  status: "loaded" | "off" | "error";
  /** Why it is off or broken; null when it is loaded. */
  reason: string | null;
  diagnostics: readonly Diagnostic[];
  engines: readonly string[];
  /** Declared in the manifest. */
  tools: readonly string[];
  /** Those it registered; of a factory that names none, all that are declared. */
  registeredTools: readonly string[];
  /** Words the plugin's commands answer to. */
  commands: readonly string[];
  hooks: readonly string[];
  sessionActions: readonly string[];
  /** Names of instructions that models may read. */
  skills: readonly string[];
  /** True: it offers a memory, which the memory slot may choose. */
  memory: boolean;
  /** Ids of services, which run as long as a gateway does. */
  services: readonly string[];
  /** Words of the command line: `clew <word>`. */
  programs: readonly string[];
  /** Addresses at the gateway's HTTP server. */
  routes: readonly string[];
  /** Names of what others may ask of it. */
  methods: readonly string[];
  /** Errors of it that no caller could catch; null = none so far. */
  strays: StrayRecord | null;
  /** What it asked of the process and was refused; null = nothing so far. */
  refused: StrayRecord | null;
  /** What it changed that all code of the process shares; null = nothing that was noticed. */
  changed: StrayRecord | null;
  /** When it took so much of the event loop's time that others had little; null = never. */
  busy: StrayRecord | null;
  /** Hooks of it that failed; null = none did. */
  failedHooks: StrayRecord | null;
  /** Where it runs; null = in the process of whoever tells. */
  isolation: "process" | null;
  /** What it did that it is off for; null = it is not in safe mode. */
  safeMode: SafeModeEntry | null;
}

/** A plugin that is off because of what it did, and why. */
export interface SafeModePlugin {
  plugin: string;
  reason: string;
}

/** Pure. */
export const inSafeMode = (records: readonly PluginRecord[]): SafeModePlugin[] =>
  records.flatMap(({ id, reason, safeMode }) =>
    safeMode === null ? [] : [{ plugin: id, reason: reason ?? "" }],
  );

/** Pure. Why nothing of it runs, where another sentence names it. */
export const ofPlugin = ({ id, reason }: Pick<PluginRecord, "id" | "reason">): string =>
  `plugin "${id}": ${reason}`;

export interface RecordRequest {
  id: string;
  folder: string;
  origin: PluginOrigin;
  manifest?: PluginManifest;
  version?: string | undefined;
}

/** Pure. A plugin of which nothing is used. */
export function unusedRecord(
  request: RecordRequest,
  status: "off" | "error",
  reason: string,
): PluginRecord {
  return {
    ...base(request),
    status,
    reason,
    diagnostics: [],
    engines: [],
    commands: [],
    hooks: [],
    sessionActions: [],
    skills: [],
    memory: false,
    ...{ registeredTools: [], services: [], programs: [], routes: [], methods: [] },
  };
}

/** Pure. */
export function loadedRecord(
  request: RecordRequest,
  registrations: Registrations,
  { commands, skills }: Pick<PluginRecord, "commands" | "skills">,
): PluginRecord {
  const { engines, tools, hooks, actions, offers, diagnostics } = registrations;
  const about = base(request);
  return {
    ...about,
    registeredTools: [
      ...new Set(tools.flatMap(({ names }) => names ?? about.tools.filter(isToolName))),
    ],
    ...{ status: "loaded", reason: null, diagnostics, commands, skills },
    engines: engines.map(({ engineId }) => engineId),
    hooks: [...new Set(hooks.map(({ name }) => name))],
    sessionActions: actions.map(({ id }) => id),
    memory: registrations.memory !== undefined,
    services: offers.services.map(({ id }) => id),
    programs: offers.programs.flatMap(({ parentPath, names }) =>
      names.map((name) => [...parentPath, name].join(" ")),
    ),
    routes: offers.routes.map(({ path }) => path),
    methods: offers.methods.map(({ name }) => name),
  };
}

function base({ id, folder, origin, manifest, version }: RecordRequest) {
  const kinds = kindsOf(manifest?.kind);
  const tools = manifest?.contracts?.tools ?? [];
  return {
    id,
    name: manifest?.name ?? id,
    version: version ?? manifest?.version ?? null,
    kinds,
    origin,
    folder,
    tools,
    ...{ strays: null, failedHooks: null, refused: null, changed: null, busy: null },
    ...{ safeMode: null, isolation: null },
  };
}

/**
 * One line per plugin that is not used, and per registration that was refused. What is only worth
 * knowing was told at the install; of a linked plugin, which may have changed, it is one line.
 */
export function logRecords(records: readonly PluginRecord[], log: LogPort): void {
  for (const { id, status, reason, origin, diagnostics, safeMode } of records) {
    if (safeMode !== null) log.warn(`[plugins] ${id}: ${reason}`);
    if (status === "error") log.error(`[plugins] ${id} is not used: ${reason}`);
    const errors = diagnostics.filter(({ level }) => level === "error");
    for (const { message } of errors) log.error(`[plugins] ${id}: ${message}`);
    const [first, ...others] = diagnostics.filter(({ level }) => level !== "error");
    for (const { message } of others) log.info(`[plugins] ${id}: ${message}`);
    if (first === undefined) continue;
    const more =
      others.length === 0
        ? ""
        : `, and ${others.length} more: clew plugins inspect ${id.split("/")[0]} --runtime`;
    log[origin === "linked" ? "warn" : "info"](`[plugins] ${id}: ${first.message}${more}`);
  }
}
