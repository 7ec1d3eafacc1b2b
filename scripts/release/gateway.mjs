// Starts a gateway as people do, asks it what a person would, and stops it.
import { spawn } from "node:child_process";
import { once } from "node:events";

const START_MS = 120_000;
const STOP_MS = 20_000;

/**
 * Starts `file args start --port 0` and waits until it says where it is.
 *
 * @param {{ file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv,
 * channel?: boolean, group?: boolean }} options `channel`: it may notice that we go; `group`:
 * signals reach what it starts, too
 */
export async function startGateway({ file, args, cwd, env, channel = false, group = false }) {
  const child = spawn(file, [...args, "start", "--port", "0"], {
    cwd,
    env,
    detached: group,
    stdio: ["ignore", "pipe", "pipe", ...(channel ? ["ipc"] : [])],
  });
  const ended = once(child, "exit");
  let said = "";
  const send = (signal) => (group ? process.kill(-child.pid, signal) : child.kill(signal));

  const url = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`it did not start: ${said}`)), START_MS);
    const listen = (piece) => {
      said += piece;
      const found = /running: (http:\/\/[^/\s]+)/.exec(said);
      if (found !== null) resolve(found[1]);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.on("error", reject);
    child.on("exit", () => reject(new Error(`it ended instead of starting: ${said}`)));
    child.on("exit", () => clearTimeout(late));
    child.stdout.once("data", () => clearTimeout(late));
  }).catch((error) => {
    if (child.exitCode === null && child.pid !== undefined) send("SIGKILL");
    throw error;
  });

  async function untilEnded(how) {
    const late = setTimeout(() => send("SIGKILL"), STOP_MS);
    const [code, signal] = await ended;
    clearTimeout(late);
    if (code !== 0) throw new Error(`after ${how} it ended with ${code ?? signal}: ${said}`);
  }

  return {
    url,
    /** Health, the page, and an answer that needs the message before. */
    async check({ version }) {
      const health = await (await fetch(`${url}/api/health`)).json();
      if (health.status !== "ok" || health.version !== version)
        throw new Error(`health is ${JSON.stringify(health)}`);
      const page = await (await fetch(`${url}/`)).text();
      const script = /src="([^"]+\.js)"/.exec(page)?.[1];
      if (script === undefined) throw new Error(`there is no page: ${page.slice(0, 200)}`);
      const { status } = await fetch(new URL(script, `${url}/`));
      if (status !== 200) throw new Error(`${script} of the page answers ${status}`);
      await tell(url, "My cat is called Minka.");
      const reply = await tell(url, "What is my cat called?");
      if (!reply.includes("Minka")) throw new Error(`the reply does not know the cat: ${reply}`);
    },
    /** Sends a signal; the gateway must end with 0. */
    async stop(signal) {
      send(signal);
      await untilEnded(signal);
    },
    /** Closes the channel, as the death of its parent does; the gateway must end with 0. */
    async leave() {
      if (child.connected) child.disconnect();
      await untilEnded("its parent went");
    },
  };
}

async function tell(url, text) {
  const answer = await fetch(`${url}/api/sessions/main/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  const events = await answer.text();
  if (!/"outcome":\s*"completed"/.test(events)) throw new Error(`the turn failed: ${events}`);
  return [...events.matchAll(/^data: (.*)$/gm)]
    .map((match) => JSON.parse(match[1]))
    .filter(({ type }) => type === "text")
    .map(({ delta }) => delta)
    .join("");
}
