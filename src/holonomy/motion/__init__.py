"""How it moves: `simulate`, one file per method, `Run` and its certificate."""

from holonomy.motion.adaptive import Adaptive as Adaptive
from holonomy.motion.certificate import Certificate as Certificate
from holonomy.motion.event import Event as Event
from holonomy.motion.explicit import RK4 as RK4
from holonomy.motion.explicit import Euler as Euler
from holonomy.motion.gauss import Gauss as Gauss
from holonomy.motion.method import AbstractMethod as AbstractMethod
from holonomy.motion.radau import Radau as Radau
from holonomy.motion.rattle import Rattle as Rattle
from holonomy.motion.record import Events as Events
from holonomy.motion.result import Code as Code
from holonomy.motion.result import Result as Result
from holonomy.motion.result import SimulationError as SimulationError
from holonomy.motion.run import Run as Run
from holonomy.motion.simulate import simulate as simulate
from holonomy.motion.stepper import Stepper as Stepper
from holonomy.motion.store import load as load
from holonomy.motion.symplectic_euler import SymplecticEuler as SymplecticEuler
from holonomy.motion.taylor import Taylor as Taylor
