"""What scikit-learn expects of an estimator that keeps its parameters in the fields of a dataclass."""

from dataclasses import fields


class Parameters:
    """`get_params`, `set_params` and a repr that tells the parameters that are not the defaults."""

    def get_params(self, deep: bool = True) -> dict:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def set_params(self, **parameters):
        for name, value in parameters.items():
            if name not in (known := self.get_params()):
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r} (its parameters: {', '.join(known)})"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(changed)})"
