"""A simulation for tests of the runner, the same as behave.mjs: BEHAVE (a member of container.environment) says what it does."""

import json
import os
import signal
import subprocess
import sys
import time

OUT = os.environ["SVC_OUTPUT_DIR"]
RUN_CONFIG = open(os.environ["SVC_RUN_CONFIG"], encoding="utf-8").read()


def write(name, text):
    with open(os.path.join(OUT, name), "w", encoding="utf-8") as file:
        file.write(text)


def forever():
    while True:
        time.sleep(1)


def child(**options):
    return subprocess.Popen(["sleep", "300"], **options)


def succeed():
    config = json.loads(RUN_CONFIG)
    write("metadata.json", json.dumps({"run_id": config["run_id"], "doubled": config["parameters"]["mass"] * 2}))
    write("environment.json", json.dumps(dict(os.environ)))
    write("run_config.txt", RUN_CONFIG)


def fail():
    sys.stderr.write("first line\nthe reason is here\n")
    sys.exit(3)


def crash():
    os.kill(os.getpid(), signal.SIGSEGV)


hang = forever


def slow():
    time.sleep(float(os.environ.get("SLOW_MS", "300")) / 1000)


def stubborn():
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    forever()


def patient():
    """Takes a while after SIGTERM, and ends well."""
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    while not stopped:
        time.sleep(0.1)
    time.sleep(1.5)


def family():
    stay, leave = child(), child(start_new_session=True)
    write("pids.json", json.dumps([os.getpid(), stay.pid, leave.pid]))
    forever()


def leaver():
    stay = child(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    write("pids.json", json.dumps([os.getpid(), stay.pid]))
    sys.exit(0)


def flood():
    block = "x" * (1 << 20)
    sys.stdout.write("the beginning\n")
    for _ in range(int(os.environ.get("FLOOD_MIB", "40"))):
        sys.stdout.write(block)
    sys.stdout.write("\nthe end\n")


def descriptors():
    links = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            links[name] = os.readlink("/proc/self/fd/" + name)
        except OSError:
            pass  # that of the listing
    listed = subprocess.run(["ls", "-l", "/proc/self/fd"], stdout=subprocess.PIPE, close_fds=False).stdout.decode()
    write("descriptors.json", json.dumps({"own": links, "of_child": listed}))


def artifacts():
    for folder in range(10):
        os.mkdir(os.path.join(OUT, "part-%d" % folder))
        for file in range(1000):
            write("part-%d/%d.dat" % (folder, file), "")


def links():
    os.mkdir(os.path.join(OUT, "deep"))
    write("deep/real.csv", "x")
    os.symlink("/etc", os.path.join(OUT, "folder"))
    os.symlink("/etc/passwd", os.path.join(OUT, "file"))
    os.symlink("/etc/passwd", os.path.join(OUT, "metadata.json"))


def dive():
    sys.path.insert(0, os.path.join(os.path.dirname(os.environ["PROTO"]), "python"))
    import simbatch

    run = simbatch.run()
    step = 0
    while True:
        step += 1
        run.telemetry(t=step / 100, altitude=100 - step, speed=step)
        time.sleep(0.01)


def pipes():
    for name in ("stdout.log", "stderr.log", "metadata.json", "telemetry.parquet"):
        try:
            os.remove(os.path.join(OUT, name))
        except FileNotFoundError:
            pass
        os.mkfifo(os.path.join(OUT, name))
    print("printed", flush=True)
    print("printed", file=sys.stderr)


def linkedLog():
    os.symlink(os.environ["VICTIM"], os.path.join(OUT, "stdout.log"))
    print("overwritten")


def daemon():
    path = os.path.join(OUT, "pids.json")
    script = 'sleep 300 & echo "[$!]" > %s.part; mv %s.part %s' % (path, path, path)
    devnull = subprocess.DEVNULL
    env = dict(os.environ) if "KEEP_ENV" in os.environ else {}
    subprocess.Popen(["/bin/sh", "-c", script], start_new_session=True, stdin=devnull, stdout=devnull, stderr=devnull, env=env)
    # The run ends, and all its processes with it, once the daemon is known.
    while not os.path.exists(path):
        time.sleep(0.005)


def forks():
    while True:
        child(start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.002)


def stuck():
    os.listdir(os.environ["HUNG"])


def oddMetadata():
    write("metadata.json", os.environ["METADATA"])


globals()[os.environ.get("BEHAVE", "succeed")]()
