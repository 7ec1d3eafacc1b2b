// A gateway in a process of its own that says one thing, to be killed while Codex answers.
import { readFileSync } from "node:fs";
import { readEnvironment } from "../../config/environment.ts";
import { checkConfigText } from "../../config/load.ts";
import { createGateway } from "../../create-gateway.ts";
import { silentLog } from "../../log/silent.ts";
import { startPlugins } from "../../plugins/start.ts";

const [home = "", configFile = "", text = ""] = process.argv.slice(2);
const environment = readEnvironment({ ...process.env, CLEW_HOME: home });
const loaded = checkConfigText(readFileSync(configFile, "utf8"), environment.configFile);
const log = silentLog;
const plugins = await startPlugins({ environment, loaded, log });
const gateway = createGateway({ environment, loaded, log, plugins });
process.stdout.write("ready\n");
await gateway.send({ key: "main", content: text });
process.stdout.write("answered\n");
