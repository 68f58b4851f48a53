import { openStore } from "/work/main/dist/src/system/store.js";
import { openCoordinator } from "/work/main/dist/src/system/coordinator.js";
import { realWorld } from "/work/main/dist/src/system/world.js";
import { startHttp } from "/work/main/dist/src/http/server.js";
import { study } from "/work/main/dist/test/support/studies.js";
import { rmSync } from "node:fs";
rmSync("/tmp/e2e", { recursive: true, force: true });
const store = await openStore("/tmp/e2e");
const c = await openCoordinator(store, realWorld, { news: { fault: (o, e) => console.log("FAULT", o, e), failed: (e) => console.log("FAILED", e) } });
const h = await startHttp({ coordinator: c, host: "127.0.0.1", port: 0, log: { info() {
}, error: console.error, warn() {
}, debug() {
} }, world: realWorld });
console.log(h.url);
const post = async (p, b) => {
  const r3 = await fetch(h.url + p, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(b) });
  const t2 = await r3.text();
  if (r3.status !== 200) console.log(p, r3.status, t2.slice(0, 500));
  return JSON.parse(t2);
};
let t = performance.now();
const { batch_id } = await post("/jobs", study({ runs: 1e6, config: { dispersions: { a: { distribution: { type: "gamma", shape: 2, scale: 3 }, units: "" }, b: { distribution: { type: "beta", alpha: 2, beta: 3 }, units: "" }, c: { distribution: { type: "exponential", lambda: 3 }, units: "" }, d: { distribution: { type: "normal", mean: 2, std_dev: 3 }, units: "" } } } }));
console.log("submit 1e6", (performance.now() - t).toFixed(1), "ms", batch_id);
const cap = { max_concurrent_jobs: 64, cpu_cores: 0, memory_gb: 0, gpu_available: false, supported_simulation_types: [] };
const N = Number(process.argv[2] ?? 2e4);
let done = 0;
t = performance.now();
await Promise.all([0, 1, 2, 3].map(async (k) => {
  const id = "r" + k, instance = "i" + k;
  await post("/runners", { id, instance, capabilities: cap });
  while (done < N) {
    const { assignments } = await post(`/runners/${id}/claims`, { instance, max_jobs: 64, holding: [] });
    await post(`/runners/${id}/reports`, { instance, reports: assignments.map((a) => ({ type: "start", job_id: a.job.id, attempt: a.attempt })) });
    await post(`/runners/${id}/reports`, { instance, reports: assignments.map((a) => ({ type: "complete", job_id: a.job.id, attempt: a.attempt, result: { execution_time_secs: 0, output_files: ["a"], metadata: { x: 1 } } })) });
    done += assignments.length;
  }
}));
console.log((done / (performance.now() - t) * 1e3).toFixed(0), "jobs/s (client in process)", done);
t = performance.now();
let n = 0, bytes = 0;
if (process.argv[3]) process.exit(0); const r = await fetch(h.url + "/jobs");
for await (const ch of r.body) {
  bytes += ch.length;
}
console.log("stream /jobs", ((performance.now() - t) / 1e3).toFixed(2), "s", (bytes / 1e6).toFixed(0), "MB", "rss", (process.memoryUsage().rss / 1e6).toFixed(0));
t = performance.now();
bytes = 0;
const r2 = await fetch(h.url + `/batches/${batch_id}/results`);
for await (const ch of r2.body) {
  bytes += ch.length;
}
console.log("stream results", ((performance.now() - t) / 1e3).toFixed(2), "s", (bytes / 1e6).toFixed(0), "MB");
console.log(await (await fetch(h.url + "/batches/" + batch_id)).json());
await h.close(100);
await c.close();
