// Starts a gateway in a process of its own, whose engine comes from a plugin.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PluginRecord } from "../plugins/load/record.ts";
import { startClew } from "./command.ts";
import { parseStream, post } from "./gateway.ts";
import { homeWithOwnPort } from "./home.ts";
import { writePlugin } from "./plugins.ts";

export interface ProcessOptions {
  env?: NodeJS.ProcessEnv;
  /** Added to the `gateway` section. */
  gateway?: object;
  /** Its `plugins.entries.small`. */
  entry?: object;
  /** Other plugins, which only answer to a hook. Absent: none. */
  beside?: readonly string[];
  /** False: until it listens, nobody waits. Absent: true. */
  waits?: boolean;
}

/** The plugin is "small", and has this code. */
export async function startPluginProcess(
  code: string,
  { env, gateway: settings, entry = {}, beside = [], waits = true }: ProcessOptions = {},
) {
  const home = await homeWithOwnPort();
  const folder = writePlugin(join(home, "sources/small"), { code });
  const { gateway } = JSON.parse(readFileSync(join(home, "clew.json"), "utf8")) as object & {
    gateway: { port: number };
  };
  const others = beside.map((id) => {
    const code = `export default { id: "${id}", register(api) { api.on("before_prompt_build", async () => ({})); } };`;
    return writePlugin(join(home, "sources", id), { id, code });
  });
  const slots = { contextEngine: "small" };
  const paths = [folder, ...others];
  const plugins = { load: { paths }, slots, entries: { small: entry } };
  writeFileSync(
    join(home, "clew.json"),
    JSON.stringify({ gateway: { ...gateway, ...settings }, plugins }),
  );
  const child = startClew(home, ["start"], { ipc: true, ...(env && { env }) });
  const url = waits ? /http:\/\/127\.0\.0\.1:\d+/.exec(await child.nextLine())![0] : "";
  const say = async (text: string, session = "main") => {
    const response = await fetch(`${url}/api/sessions/${session}/messages`, post({ text }));
    return parseStream(await response.text()).events;
  };
  const get = async (path: string) => (await fetch(`${url}${path}`)).json() as Promise<unknown>;
  const record = async () =>
    ((await get("/api/plugins")) as { plugins: PluginRecord[] }).plugins[0]!;
  const log = () => readFileSync(join(home, "logs/gateway.log"), "utf8");
  const stop = () => {
    child.process.kill("SIGTERM");
    return child.exit;
  };
  return { home, child, say, get, record, log, stop };
}
