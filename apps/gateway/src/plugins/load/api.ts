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
import { isRecord } from "@clew/plugin-sdk/host";
import { messageOf } from "../invalid.ts";
import { hookRule } from "./hook-rules.ts";
import { compileSchema } from "./json-schema.ts";
import { type RegistrationKind, type Registrations, takes, toFactory } from "./registrations.ts";

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
  const { pluginId, manifest, mode, into, logger } = request;
  let open = true;
  const accepts = (kind: RegistrationKind, what: string) => {
    if (!open) logger.warn(`${what} was registered after register() had returned; it is ignored.`);
    return open && takes(mode, kind);
  };
  const complain = (message: string, level: "warning" | "error" = "error") =>
    void into.diagnostics.push({ level, message });

  const api: PluginApi = {
    id: pluginId,
    name: manifest.name ?? pluginId,
    ...(manifest.version !== undefined && { version: manifest.version }),
    ...(manifest.description !== undefined && { description: manifest.description }),
    source: request.source,
    rootDir: request.root,
    registrationMode: mode,
    config: request.config,
    pluginConfig: request.pluginConfig,
    logger,
    runtime: request.runtime,
    resolvePath: (path) => resolvePath(path, request.root),
    registerContextEngine(id, factory) {
      if (!accepts("engine", `context engine "${id}"`)) return;
      const engineId = typeof id === "string" ? id.trim() : "";
      if (engineId === "") complain("context engine registration missing id");
      else if (typeof factory !== "function")
        complain(`context engine "${engineId}" registration missing factory`);
      else if (engineId === "legacy") complain("context engine id reserved by core: legacy");
      else
        into.engines = [
          ...into.engines.filter((engine) => engine.engineId !== engineId),
          { engineId, factory },
        ];
    },
    registerTool(tool, options) {
      const name =
        (options as { name?: unknown } | undefined)?.name ??
        (typeof tool === "function" ? undefined : tool?.name);
      const names = options?.names ?? (typeof name === "string" ? [name] : undefined);
      if (!accepts("tool", `tool ${names?.join(", ") ?? ""}`)) return;
      const declared = manifest.contracts?.tools ?? [];
      const undeclared = names?.filter((name) => !declared.includes(name)) ?? [];
      if (declared.length === 0)
        complain("plugin must declare contracts.tools before registering agent tools");
      else if (undeclared.length > 0)
        complain(`plugin must declare contracts.tools for: ${undeclared.join(", ")}`);
      else into.tools.push({ names, make: toFactory(tool) });
    },
    registerCommand(command) {
      if (!accepts("command", `command ${command?.name}`)) return;
      if (typeof command?.name !== "string" || !/^[a-z][\w-]*$/i.test(command.name))
        complain(`command name "${command?.name}" is not a word`);
      else if (typeof command.handler !== "function")
        complain(`command "${command.name}" registration missing handler`);
      else into.commands.push(command);
    },
    on(name, handler, options) {
      if (!accepts("hook", `hook ${name}`)) return;
      if (typeof handler !== "function")
        return complain(`hook ${name} registration missing handler`);
      const rule = hookRule(name, request.hookPermissions, manifest);
      if (rule.kind === "allowed")
        into.hooks.push({ name, handler, priority: options?.priority ?? 0 });
      else complain(rule.reason, "warning");
    },
    session: {
      controls: {
        registerSessionAction(action: { id?: unknown; schema?: unknown; handler?: unknown }) {
          if (!accepts("action", `session action ${action?.id}`)) return;
          const { id, schema, handler } = action ?? {};
          if (typeof id !== "string" || typeof handler !== "function")
            return complain("session action registration missing id or handler");
          if (!(manifest.contracts?.sessionActions ?? []).includes(id))
            return complain(`plugin must declare contracts.sessionActions for: ${id}`);
          try {
            const checker = isRecord(schema) ? compileSchema(schema) : undefined;
            into.actions.push({
              id,
              schema: checker,
              handler: handler as (given: Record<string, unknown>) => unknown,
            });
          } catch (error) {
            complain(`session action "${id}" has no usable schema: ${messageOf(error)}`);
          }
        },
      },
    },
  };
  return {
    api,
    close: () => {
      open = false;
    },
  };
}

/** Relative paths start at the plugin's folder, "~" is the person's home. */
function resolvePath(path: string, root: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(root, path);
}
