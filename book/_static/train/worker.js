// The worker: trains one network by what it is sent, and reports each epoch and the end.
async function sha256(numbers) {
  if (!self.crypto?.subtle) return ""; // a browser has it on https pages and in folders alone
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", numbers.buffer));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

onmessage = async ({ data: { data, loss, alpha, sigma, seed, protocol } }) => {
  const tables = lossTables(loss, data.classes, alpha, sigma);
  const { weights, ...outcome } = train(data, tables, seed, protocol, (epoch) => postMessage(epoch));
  postMessage({ ...outcome, digest: await sha256(weights), done: true });
};
