// Decides who holds the session of a chat, and opens the way there.

import { listCommands } from "../../commands/run.ts";
import { agentSettings, defaultAgentId } from "../../config/agent.ts";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { findOwnGateway, type GatewayLookup } from "../../gateway-client.ts";
import { silentLog } from "../../log/silent.ts";
import { listModels } from "../../models/list-models.ts";
import { createModelRests } from "../../models/model-rests.ts";
import type { PluginRecord } from "../../plugins/load/record.ts";
import { parseSessionName } from "../../sessions/keys.ts";
import type { Output } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import type { Overrides } from "../setup.ts";
import { sessionTyped } from "../stored-sessions.ts";
import { holderOf } from "./holder.ts";
import type { Option } from "./menu.ts";
import { OWN_COMMANDS } from "./own-help.ts";
import type { ChatPort, OpenedPort } from "./port.ts";
import { openAlone } from "./port-alone.ts";
import { throughGateway } from "./port-gateway.ts";

/** Throws what the configuration, the home or the engine refuse. */
export async function openPort(
  overrides: Overrides,
  shell: Shell,
  output: Output,
): Promise<OpenedPort> {
  const { environment } = shell;
  const { config } = await loadConfig(environment.configFile);
  const { port } = config.gateway;
  const find = () => findOwnGateway({ home: environment.home, port });
  const agentId = defaultAgentId(config);
  const workspace = () => agentSettings(config, environment.home, agentId).workspace;
  const opened = await portTo(await find(), {
    ...{ overrides, shell, output, config },
    ...{ workspace, find },
  });
  return {
    port: opened,
    mainSession: config.session.mainKey,
    keyOf: async (name) => parseSessionName(await sessionTyped(environment, name), agentId)?.key,
    models: async () => {
      const rests = createModelRests({ home: environment.home, log: silentLog }).all();
      return listModels({ config, environment, rests, now: Date.now() }).map(({ name }) =>
        // Any name may follow, and a person types it.
        name.replace(/\*$/, ""),
      );
    },
    commands: async () => [
      ...listCommands().map(({ usage, description }) => ({
        text: usage.split(" ")[0]!,
        about: description,
      })),
      ...OWN_COMMANDS,
      ...(await pluginCommands(opened)),
    ],
  };
}

/** Those of whoever holds the session; where that does not tell, the others are offered. */
async function pluginCommands({ fetch }: ChatPort): Promise<Option[]> {
  const answer = await fetch("/api/plugins").catch(() => null);
  const told = answer?.ok ? ((await answer.json()) as { plugins?: PluginRecord[] }) : {};
  return (told.plugins ?? []).flatMap(({ id, commands }) =>
    commands.map((word) => ({ text: `/${word}`, about: `a command of plugin "${id}"` })),
  );
}

interface PortOptions {
  overrides: Overrides;
  shell: Shell;
  output: Output;
  config: Config;
  workspace(): string;
  find(): Promise<GatewayLookup>;
}

async function portTo(found: GatewayLookup, options: PortOptions): Promise<ChatPort> {
  const { overrides, shell, output, config, workspace } = options;
  const { environment, strayErrors } = shell;
  const gateway = holderOf(found, overrides, config, output);
  if (gateway === undefined) return openAlone({ environment, overrides, output, strayErrors });
  return throughGateway({ gateway, find: options.find, folder: workspace() });
}
