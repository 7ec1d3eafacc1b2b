// A process that answers turn after turn with the lossless engine until it is killed.
import { writeSync } from "node:fs";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { createGateway } from "../create-gateway.ts";
import { startPlugins } from "../plugins/start.ts";

const [home = "", config = "{}"] = process.argv.slice(2);
const log = { info() {}, warn: console.error, error: console.error };
const environment = readEnvironment({ CLEW_HOME: home });
const loaded = checkConfigText(config, environment.configFile);
const plugins = await startPlugins({ environment, loaded, log });
const gateway = createGateway({ environment, loaded, log, plugins });
writeSync(1, "ready\n");
for (let turn = 0; ; turn++) {
  const long = turn % 3 === 0 ? `Line ${turn} of a long report.\n`.repeat(300) : "";
  await gateway.send({ key: "main", content: `Note ${turn} by ${process.pid}. ${long}` });
  writeSync(1, `${turn}\n`);
}
