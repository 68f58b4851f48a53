/* A throw without drag, as in throw.mjs, by a program without any client: gRPC in plain HTTP/2, all within the first window of 64 KiB. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned char out[60000];
static size_t used;

static void put(const void *bytes, size_t count) {
  if (used + count > sizeof out) exit(2);
  memcpy(out + used, bytes, count);
  used += count;
}

static void byte(unsigned value) {
  unsigned char it = (unsigned char)value;
  put(&it, 1);
}

static void varint(unsigned long long value) {
  for (; value >= 128; value >>= 7) byte((unsigned)(value & 127) | 128);
  byte((unsigned)value);
}

static void frame(unsigned long length, unsigned type, unsigned flags, unsigned stream) {
  byte(length >> 16), byte(length >> 8), byte(length), byte(type), byte(flags);
  byte(0), byte(0), byte(0), byte(stream);
}

/* A header as a literal without indexing (RFC 7541, section 6.2.2). */
static void header(const char *name, const char *value) {
  byte(0), byte((unsigned)strlen(name)), put(name, strlen(name));
  byte((unsigned)strlen(value)), put(value, strlen(value));
}

/* An entry of the map `values` of a Sample: name and double. */
static void entry(const char *name, double value) {
  size_t length = strlen(name);
  byte(0x12), byte((unsigned)(2 + length + 9));
  byte(0x0a), byte((unsigned)length), put(name, length);
  byte(0x11), put(&value, sizeof value);
}

int main(void) {
  char *port = strrchr(getenv("SVC_TELEMETRY_URL"), ':');
  char bearer[128];
  snprintf(bearer, sizeof bearer, "Bearer %s", getenv("SVC_TELEMETRY_TOKEN"));
  put("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
  frame(0, 4, 0, 0); /* SETTINGS */
  size_t head = used;
  frame(0, 1, 4, 1); /* HEADERS, END_HEADERS */
  header(":method", "POST"), header(":scheme", "http"), header(":authority", "127.0.0.1");
  header(":path", "/svc.telemetry.v1.Telemetry/Stream"), header("te", "trailers");
  header("content-type", "application/grpc"), header("authorization", bearer);
  size_t end = used;
  used = head, frame((unsigned long)(end - head - 9), 1, 4, 1), used = end;
  double z = 0;
  for (int step = 0; z >= 0; step++) {
    double t = step / 100.0;
    z = 40 * t - 9.80665 / 2 * t * t;
    size_t start = used;
    for (int i = 0; i < 14; i++) byte(0);
    byte(0x08), varint((unsigned long long)step * 10000000ull);
    entry("z", z), entry("vz", 40 - 9.80665 * t);
    size_t message = used - start - 14;
    end = used;
    used = start, frame((unsigned long)(message + 5), 0, 0, 1); /* DATA with one gRPC message */
    byte(0), byte(0), byte(0), byte((unsigned)(message >> 8)), byte((unsigned)message);
    used = end;
  }
  frame(0, 0, 1, 1); /* DATA, END_STREAM */

  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port + 1))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int server = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(server, (struct sockaddr *)&address, sizeof address) != 0) return 3;
  for (size_t sent = 0; sent < used;) {
    ssize_t count = write(server, out + sent, used - sent);
    if (count <= 0) return 4;
    sent += (size_t)count;
  }
  /* Reads frames until HEADERS with END_STREAM, the trailers: then every sample was taken. */
  for (;;) {
    unsigned char got[9];
    for (size_t at = 0; at < sizeof got;) {
      ssize_t count = read(server, got + at, sizeof got - at);
      if (count <= 0) return 5;
      at += (size_t)count;
    }
    unsigned long length = ((unsigned long)got[0] << 16) | ((unsigned long)got[1] << 8) | got[2];
    for (char skipped; length > 0; length--)
      if (read(server, &skipped, 1) != 1) return 6;
    if (got[3] == 1 && (got[4] & 1) != 0) return 0;
  }
}
