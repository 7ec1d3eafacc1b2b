// Writes what was counted as Prometheus reads it, with the library that is loaded for that.
import type { Counter, Histogram, Registry } from "prom-client";
import type { Series, Timed } from "./series.ts";

/** What is so now. */
export interface Gauged {
  name: string;
  help: string;
  value: () => number;
}

export interface ExposeOptions {
  /** Names of one are in no other. */
  series: readonly Series[];
  gauges: readonly Gauged[];
  version: string;
}

export interface Exposition {
  text: string;
  contentType: string;
}

/** The library is loaded, and what the process itself takes is counted, from the first time on. */
export function createExposition(options: ExposeOptions): () => Promise<Exposition> {
  let registry: ReturnType<typeof register> | undefined;
  return async () => {
    registry ??= register(options);
    const loaded = await registry;
    return { text: withoutEmptyLag(await loaded.metrics()), contentType: loaded.contentType };
  };
}

/**
 * How late the event loop was is counted from one scrape to the next. Where nothing was counted yet
 * the library tells the largest number there is, and no number.
 */
function withoutEmptyLag(text: string): string {
  if (!/^nodejs_eventloop_lag_mean_seconds nan$/im.test(text)) return text;
  const isLag = (line: string) => /^(# \w+ )?nodejs_eventloop_lag_\w+_seconds /.test(line);
  return text
    .split("\n")
    .filter((line) => !isLag(line))
    .join("\n");
}

async function register({ series, gauges, version }: ExposeOptions) {
  const client = await import("prom-client");
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  countFromStart(registry);
  const registers = [registry];
  new client.Gauge({
    ...{ name: "clew_info", help: "Which version runs.", labelNames: ["version"], registers },
  }).set({ version }, 1);
  for (const { name, help, value } of gauges)
    new client.Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(value());
      },
    });
  for (const { name, help, labels, values } of series.flatMap(({ counted }) => counted))
    new client.Counter({
      ...{ name, help, labelNames: [...labels], registers },
      collect() {
        this.reset();
        for (const counted of values.values()) this.inc(counted.labels, counted.value);
      },
    });
  for (const timed of series.flatMap((each) => each.timed)) {
    const { name, help } = timed;
    const get = async () => ({ name, help, type: "histogram", values: bucketsOf(timed) });
    // The library's own takes single observations only; a registry asks for no more than this.
    registry.registerMetric({ name, get } as unknown as Histogram);
  }
  return registry;
}

/** The library counts from when it was loaded. */
function countFromStart(registry: Registry): void {
  const { user, system } = process.cpuUsage();
  const taken = { user, system, "": user + system };
  for (const [what, micros] of Object.entries(taken)) {
    const name = ["process_cpu", what, "seconds_total"].filter(Boolean).join("_");
    (registry.getSingleMetric(name) as Counter | undefined)?.inc(micros / 1e6);
  }
}

const bucketsOf = ({ name, bounds, values }: Timed) =>
  [...values.values()].flatMap(({ labels, counts, sum, count }) => {
    let below = 0;
    const buckets = bounds.map((bound, index) => {
      below += counts[index] ?? 0;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { ...labels, le: "+Inf" }, value: count },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  });
