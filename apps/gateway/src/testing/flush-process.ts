// Talks in one session, whose memory is flushed, in a process of its own.
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { createGateway } from "../create-gateway.ts";
import { silentLog } from "../log/silent.ts";
import { startPlugins } from "../plugins/start.ts";

const [home = "", config = "", turns = ""] = process.argv.slice(2);
const environment = readEnvironment({ CLEW_HOME: home });
const loaded = checkConfigText(config, environment.configFile);
const log = silentLog;
const plugins = await startPlugins({ environment, loaded, log });
const gateway = createGateway({ environment, loaded, log, plugins });
process.stdout.write("started\n");
for (let turn = 1; turn <= Number(turns); turn++) {
  const content = `Note ${turn}. ${`The tide at rock ${turn} was high and the boat waited. `.repeat(100)}`;
  await gateway.send({ key: "main", content });
  process.stdout.write(`${turn}\n`);
}
await gateway.close({ graceMs: 5_000 });
process.stdout.write("done\n");
process.exit(0);
