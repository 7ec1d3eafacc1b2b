// The command `pnpm bench gateway-outages`, which troubles the database under clients.
import { randomInt } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { startCuttingProxy } from "../../../../packages/store-postgres/src/testing/cutting-proxy.ts";
import {
  createDatabase,
  startPostgres,
} from "../../../../packages/store-postgres/src/testing/server.ts";
import { killGatewaysOverHttp } from "../../../gateway/src/testing/killed-gateways.ts";
import { gatewayCommand } from "../gateway/gateway-process.ts";
import { countOptions } from "./count-options.ts";
import { isNothingLost, say, tellLost } from "./tell-lost.ts";

export const description =
  "two gateways whose PostgreSQL restarts, crashes, freezes and loses connections under clients";

const USAGE = `Usage: pnpm bench gateway-outages [--sessions N] [--rounds N] [--every N] [--dead N]

  --sessions N  clients, each in a session of its own (default: 20)
  --rounds N    how often each kind of trouble comes (default: 5)
  --every N     time from one trouble to the next, s (default: 3)
  --dead N      a gateway unheard of for so long is dead, s (default: 10)

Exit code 0, 1 where a message is lost, doubled or out of order, or a gateway ended otherwise than
the docs say, 2 for wrong options.
`;

/** A database that stands still for longer ends gateways, with exit code 1. */
const FROZEN_TOO_LONG = 1.5;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const asked = countOptions(args, { sessions: 20, rounds: 5, every: 3, dead: 10 });
  if (asked === undefined) {
    process.stderr.write(USAGE);
    return args[0] === "--help" ? 0 : 2;
  }
  const { sessions, rounds, every, dead } = asked;
  const server = await startPostgres({ folder: join(tmpdir(), `clew-outages-${process.pid}`) });
  const proxy = await startCuttingProxy(await createDatabase(server, "outages"));
  const freeze = async (ms: number) => {
    server.freeze();
    await after(ms);
    server.thaw();
  };
  const cut = async () => {
    for (let left = 20; left > 0; left--) {
      proxy.cutAfter(randomInt(1, 5000), randomInt(2) === 0 ? "request" : "answer");
      await after(randomInt(20, 200));
    }
  };
  const troubles: [string, () => Promise<void>][] = [
    ["restarted", () => server.restart("fast", { downMs: 500 })],
    ["connections cut at random bytes", cut],
    ["crashed", () => server.restart("immediate", { downMs: 2000 })],
    ["stood still for a moment", () => freeze(dead * 400)],
    ["stood still for too long", () => freeze(dead * 1000 * FROZEN_TOO_LONG)],
  ];
  const kills = rounds * troubles.length;
  try {
    const result = await killGatewaysOverHttp({
      ...{ databaseUrl: proxy.url, sessions, kills, killEveryMs: every * 1000 },
      ...{ deadAfterSeconds: dead, command: gatewayCommand() },
      trouble: async (number) => {
        const [what, befall] = troubles[number % troubles.length]!;
        await befall();
        say(`${number + 1} of ${kills}: ${what}`);
      },
    });
    const { acknowledged, repeated, ended } = result;
    say(`${sessions} sessions, ${kills} troubles: ${acknowledged} messages whose end was told`);
    const codes = [...new Set(ended)].join(", ") || "none";
    const again = `${repeated} sent again; gateways ended ${ended.length} times`;
    tellLost(result, `${again}, with exit codes ${codes}`);
    const isWell = ended.every((code) => code === 1) && ended.length <= 2 * rounds;
    return isWell && isNothingLost(result) ? 0 : 1;
  } finally {
    await proxy.close();
    await server.stop();
  }
}
