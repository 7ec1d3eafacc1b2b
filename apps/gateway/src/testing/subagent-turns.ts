// A process whose sessions start others, again and again, until it is killed.
import { writeSync } from "node:fs";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { createGateway } from "../create-gateway.ts";
import { startPlugins } from "../plugins/start.ts";

/** `messages`: one turn each, as JSON; then it waits for its end. */
const [home = "", config = "{}", messages = "[]"] = process.argv.slice(2);
const log = { info() {}, warn() {}, error: console.error };
const environment = readEnvironment({ CLEW_HOME: home });
const loaded = checkConfigText(config, environment.configFile);
const plugins = await startPlugins({ environment, loaded, log });
const gateway = createGateway({ environment, loaded, log, plugins });
writeSync(1, "ready\n");
for (const [index, content] of (JSON.parse(messages) as string[]).entries())
  await gateway.send({ key: "main", content }).finally(() => writeSync(1, `${index}\n`));
setInterval(() => {}, 60_000);
