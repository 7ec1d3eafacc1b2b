// The object that a plugin's `register` receives (contract §4.3).
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type {
  PluginApi,
  PluginLogger,
  PluginRuntime,
  RegistrationMode,
} from "@clew/plugin-sdk/core";
import type { PluginManifest } from "@clew/plugin-sdk/host";
import { acceptAnyRegistration } from "./any-registration.ts";
import {
  type GivenAction,
  type Registering,
  registerAction,
  registerCommand,
  registerEngine,
  registerHook,
  registerTool,
  undeclaredTools,
} from "./register.ts";
import { memoryMethods } from "./register-memory.ts";
import { offerRegistrations } from "./register-offers.ts";
import { type Registrations, takes } from "./registrations.ts";

export interface ApiRequest {
  pluginId: string;
  manifest: PluginManifest;
  /** Absolute path of the entry. */
  source: string;
  root: string;
  mode: RegistrationMode;
  /** The whole configuration as the file says it. */
  config: unknown;
  pluginConfig: unknown;
  logger: PluginLogger;
  runtime: PluginRuntime;
  /** `plugins.entries.<id>.hooks`. */
  hookPermissions: unknown;
  /** Filled while open. */
  into: Registrations;
}

export interface OpenApi {
  api: PluginApi;
  /** From now on registration methods do nothing. */
  close(): void;
}

export function createPluginApi(request: ApiRequest): OpenApi {
  const { mode, into, logger } = request;
  let open = true;
  const accepts: Registering["accepts"] = (kind, what) => {
    if (!open) logger.warn(`${what} was registered after register() had returned; it is ignored.`);
    return open && takes(mode, kind);
  };
  const complain: Registering["complain"] = (message, level = "error", about) => {
    // Of many of a kind once is enough.
    if (!into.diagnostics.some((known) => known.message === message))
      into.diagnostics.push({ level, message, ...(about !== undefined && { about }) });
  };
  const registering = { ...request, accepts, complain };
  const api: PluginApi = {
    ...facts(request),
    resolvePath: (path) => resolvePath(path, request.root),
    registerContextEngine: (...given) => registerEngine(registering, ...given),
    registerTool: (...given) => registerTool(registering, ...given),
    registerCommand: (command) => registerCommand(registering, command),
    on(...given: Parameters<PluginApi["on"]>) {
      into.members.add("on");
      registerHook(registering, ...given);
    },
    ...memoryMethods(registering),
    ...offerRegistrations(registering),
    session: {
      controls: {
        registerSessionAction: (action: GivenAction) => registerAction(registering, action),
      },
    },
  };
  const told = new Set<string>();
  const unused = (member: string) => {
    if (told.has(member)) return;
    told.add(member);
    if (open) complain(notDone(member), "warning", `api.${member}`);
    else logger.warn(`${notDone(member)}.`);
  };
  return {
    api: acceptAnyRegistration(api, unused),
    close() {
      const undeclared = [...into.undeclared];
      if (open && undeclared.length > 0) complain(undeclaredTools(undeclared), "warning");
      open = false;
    },
  };
}

const notDone = (member: string) =>
  `api.${member} is not something this host does anything with; what it was given is not used`;

function facts({ pluginId, manifest, source, root, mode, ...rest }: ApiRequest) {
  const { config, pluginConfig, logger, runtime } = rest;
  const { name = pluginId, version, description } = manifest;
  return {
    ...{ id: pluginId, name, source, rootDir: root, registrationMode: mode },
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    ...{ config, pluginConfig, logger, runtime },
  };
}

/** Relative paths start at the plugin's folder, "~" is the person's home. */
function resolvePath(path: unknown, root: string): string {
  if (typeof path !== "string") throw new TypeError("api.resolvePath takes a path, as text");
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(root, path);
}
