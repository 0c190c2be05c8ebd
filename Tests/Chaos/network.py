"""Hosts of the chaos's own: each is a network namespace, with a cable to one switch. It takes root."""

import subprocess


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"


class Network:
    def __init__(self) -> None:
        run("ip", "netns", "add", "switch")
        run("ip", "-n", "switch", "link", "add", "switch", "type", "bridge")
        run("ip", "-n", "switch", "link", "set", "switch", "up")
        self._count = 0

    def add(self, name: str) -> "Host":
        self._count += 1
        return Host(name, f"10.77.0.{self._count}")


class Host:
    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.address = address
        run("ip", "netns", "add", name)
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", name, "netns", "switch")
        run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", "switch", "link", "set", name, "master", "switch", "up")

    def command(self, *command: str) -> list[str]:
        return ["ip", "netns", "exec", self.name, *command]

    def plug(self, *, is_in: bool) -> None:
        """Puts the cable into the switch, or pulls it."""
        run("ip", "-n", "switch", "link", "set", self.name, "up" if is_in else "down")
